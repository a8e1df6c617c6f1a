// Elements built without markup, so that texts are always plain text.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with properties, listeners (`onclick`) and children.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, ...children);
  return element;
}

/**
 * Replace the children of an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const kept = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...kept.map((child) => (child instanceof Node ? child : String(child))));
}

/** A button with a text. @param {Child} text @param {(event: Event) => void} act @param {Record<string, any>} [props] */
export const button = (text, act, props = {}) => h("button", { type: "button", onclick: act, ...props }, text);

/** A key of the keyboard. @param {string} name */
export const key = (name) => h("kbd", {}, name);

/** Whether a key press goes to a text field. @param {EventTarget | null} target */
export function isTyping(target) {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
    || (target instanceof HTMLInputElement && !["range", "radio", "checkbox"].includes(target.type));
}

/** A random key that no other page has. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

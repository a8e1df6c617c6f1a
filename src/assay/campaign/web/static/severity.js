// How severities look.

/** A class name for a severity, whatever the campaign calls it. @param {string} name */
export function severityClass(name) {
  const plain = name.toLowerCase();
  if (["minor", "neutral"].includes(plain)) return plain;
  return plain.startsWith("crit") ? "critical" : "major";
}

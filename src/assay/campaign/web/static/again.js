// A page opened from another site comes without its strict cookie; reloaded from here, it has it.

const LAST = "assay:again";
const PAUSE = 5_000;
const before = Number(sessionStorage.getItem(LAST) || 0);
if (Date.now() - before > PAUSE) {
  sessionStorage.setItem(LAST, String(Date.now()));
  location.replace(location.href);
}

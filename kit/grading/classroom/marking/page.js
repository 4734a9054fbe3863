// What a person has typed is not lost, and saving leads back to the place.
const form = document.querySelector("form");
const PLACE = "labs-mark-place";
let isChanged = false;
const left = sessionStorage.getItem(PLACE);
if (left !== null) scrollTo(0, Number(left));
sessionStorage.removeItem(PLACE);
const total = (place) => {
  const boxes = [...form.querySelectorAll(`input[data-place="${place}"]`)];
  const ticked = boxes.filter((box) => box.checked);
  const sum = ticked.reduce((found, box) => found + Number(box.dataset.adds), 0);
  const output = document.getElementById(`sum-${place}`);
  output.textContent = ticked.length ? `ticked: ${Number(sum.toFixed(2))}` : "";
};
form.addEventListener("input", (event) => {
  isChanged = true;
  if (event.target.dataset.place) total(event.target.dataset.place);
});
form.addEventListener("click", (event) => {
  const number = event.target.dataset.suggests;
  if (!number) return;
  const items = form.elements[`rubric-${number}`];
  const suggested = document.getElementById(`suggested-${number}`).textContent;
  items.value = [items.value.trim(), suggested].filter(Boolean).join("\n");
  items.rows = 6;
  items.focus();
  isChanged = true;
});
form.addEventListener("submit", () => {
  isChanged = false;
  sessionStorage.setItem(PLACE, scrollY);
});
addEventListener("beforeunload", (event) => {
  if (isChanged) event.preventDefault();
});
// Enter goes from points to the next answer, whose boxes come first, and from a box to the
// next points; only the button saves.
form.addEventListener("keydown", (event) => {
  const field = event.target;
  const isPoints = field.inputMode === "decimal";
  if (event.key === "Enter" && field.closest(".line")) event.preventDefault();
  if (event.key !== "Enter" || !(isPoints || field.type === "checkbox")) return;
  event.preventDefault();
  const stops = "input[inputmode=decimal], input[data-place]";
  const after = [...form.querySelectorAll(stops)].filter(
    (one) => field.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  (isPoints ? after[0] : after.find((one) => one.inputMode === "decimal"))?.focus();
});

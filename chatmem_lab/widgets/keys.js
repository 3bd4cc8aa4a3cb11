// Keys pressed anywhere in the widget go to Python; what a control inside it takes for itself
// (the slider its arrows, a button its space bar) stays with that control.
const OF_A_SLIDER = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", " "];

function isTaken(event) {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  if (event.key === " ") return target.closest("button") !== null;
  return OF_A_SLIDER.includes(event.key) && target.closest('[role="slider"]') !== null;
}

function render({ model, el }) {
  const status = document.createElement("span");
  status.className = "cml-says";
  status.setAttribute("role", "status");
  el.appendChild(status);
  const say = () => {
    status.textContent = model.get("says");
  };
  model.on("change:says", say);

  let root = null;
  const press = (event) => {
    if (!model.get("names").includes(event.key) || isTaken(event)) return;
    event.preventDefault();
    event.stopPropagation();
    model.send({ key: event.key });
  };
  const attach = () => {
    root = el.closest(".cml-widget");
    if (root === null) {
      frame = requestAnimationFrame(attach);
      return;
    }
    root.tabIndex = 0;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", model.get("label"));
    // JupyterLab would take the keys for its notebook before they get here.
    root.setAttribute("data-lm-suppress-shortcuts", "true");
    root.addEventListener("keydown", press);
  };
  let frame = requestAnimationFrame(attach);
  return () => {
    cancelAnimationFrame(frame);
    model.off("change:says", say);
    if (root !== null) root.removeEventListener("keydown", press);
  };
}

export default { render };

// Names on a map that a mark, another name or the scale covers, or that its edge cuts, in pixels as
// they are drawn.
(() => {
  const map = document.querySelector(globalThis.given);
  const seen = (selector) =>
    [...map.querySelectorAll(selector)].filter((node) => getComputedStyle(node).display !== 'none');
  const names = seen('.labels text, .names text');
  const marks = seen('.mark').map((mark) => mark.querySelector('use, circle'));
  const scale = seen('.scale text, .scale path');
  const covers = (a, b) =>
    a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  const getBox = (node) => node.getBoundingClientRect();
  const frame = map.querySelector('.map-window').getBoundingClientRect();
  const isCut = ({ left, right, top, bottom }) =>
    (left < frame.left - 1 && right > frame.left) ||
    (right > frame.right + 1 && left < frame.right) ||
    (top < frame.top - 1 && bottom > frame.top) ||
    (bottom > frame.bottom + 1 && top < frame.bottom);
  return names
    .filter(
      (name) =>
        isCut(getBox(name)) ||
        [...names, ...marks, ...scale].some(
          (other) => other !== name && covers(getBox(name), getBox(other)),
        ),
    )
    .map((name) => name.textContent);
})();

// Visible parts of the page that have no room: their text runs out of them or of the window, and
// nobody can scroll there.
(() => {
  const scrolls = (node) => ['auto', 'scroll'].includes(getComputedStyle(node).overflowX);
  const inside = (node) => {
    for (let each = node; each !== null; each = each.parentElement) if (scrolls(each)) return true;
    return false;
  };
  return [...document.querySelectorAll('body *')]
    .filter(
      (node) =>
        node instanceof HTMLElement &&
        node.checkVisibility() &&
        !node.matches('.skip, input, select'),
    )
    .filter((node) => {
      const { left, right } = node.getBoundingClientRect();
      const isWider =
        getComputedStyle(node).display !== 'inline' && node.scrollWidth > node.clientWidth + 1;
      return !inside(node) && (left < -1 || right > innerWidth + 1 || isWider);
    })
    .map((node) => `${node.tagName} ${node.className}: ${node.textContent.trim().slice(0, 60)}`);
})();

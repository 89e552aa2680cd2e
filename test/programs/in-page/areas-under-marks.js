// Evaluated in the page: for each find on the map, the name of the cadastral area that its mark
// stands in.
(() => {
  const areas = [...document.querySelectorAll('.outlines .areas path')];
  const places = [...document.querySelectorAll('.marks g')].map((mark) => {
    const { e, f } = mark.transform.baseVal.consolidate().matrix;
    const area = areas.find((path) => path.isPointInFill(new DOMPoint(e, f)));
    return [mark.dataset.ident, area?.textContent ?? null];
  });
  return Object.fromEntries(places);
})();

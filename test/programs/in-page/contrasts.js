// Evaluated in the page: contrast (WCAG 2.2) of text colours on their grounds, and of the marks on
// a map's land. Given: `texts` and `marks`, each as pairs of names of colours.
(() => {
  const probe = document.body.appendChild(document.createElement('i'));
  const linear = (channel) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  const luminance = (name) => {
    probe.style.color = `var(--${name})`;
    const channels = getComputedStyle(probe)
      .color.match(/[\d.]+/g)
      .slice(0, 3);
    const [r, g, b] = channels.map((channel) => linear(Number(channel) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const { texts, marks } = globalThis.given;
  const table = (pairs) =>
    Object.fromEntries(pairs.map(([one, other]) => [`${one} on ${other}`, contrast(one, other)]));
  const result = { ground: luminance('ground'), texts: table(texts), marks: table(marks) };
  probe.remove();
  return result;
})();

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Texts become text nodes, so that nothing a server sends is ever read as markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: Event) => void)>}
 * [attributes] functions listen
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: Event) => void)>}
 * [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function createDrawing(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} target
 * @param {Record<string, string | number | boolean | undefined | ((event: Event) => void)>}
 * attributes
 * @param {(Node | string)[]} children
 */
function fillElement(target, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') target.addEventListener(name, value);
    else if (value === true) target.setAttribute(name, '');
    else if (value !== undefined && value !== false) target.setAttribute(name, String(value));
  }
  target.append(...children);
  return target;
}

/**
 * An element of the page that is certainly there.
 * @template {Element} E
 * @param {string} id
 * @param {new () => E} type
 * @returns {E}
 */
export function getPart(id, type) {
  const node = document.getElementById(id);
  if (!(node instanceof type)) throw new Error(`the page has no ${type.name} #${id}`);
  return node;
}

/**
 * Makes a parent's children follow a list. What stays keeps its element, and with it focus,
 * scrolling and loaded pictures.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string | number} getKey an item whose key changes is made anew
 * @param {(item: T) => Element} make
 */
export function follow(parent, items, getKey, make) {
  /** @type {Map<string, Element>} */
  const before = new Map();
  for (const child of parent.children) before.set(child.getAttribute('data-key') ?? '', child);
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(getKey(item));
    const node = before.get(key) ?? make(item);
    if (!before.delete(key)) node.setAttribute('data-key', key);
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of before.values()) node.remove();
}

// Filters for the finds of the page, which is complete without this script. It makes no requests.
(() => {
  for (const element of document.querySelectorAll('.js-only')) element.removeAttribute('hidden');
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form.filters'));
  if (form === null) return;
  const output = /** @type {HTMLOutputElement} */ (form.querySelector('output'));
  const chooser = /** @type {RadioNodeList} */ (form.elements.namedItem('view'));
  const none = /** @type {HTMLElement} */ (document.querySelector('.none'));
  const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('tr[data-find]')]);
  const lists = /** @type {const} */ ([
    ['cards', /** @type {HTMLElement} */ (document.querySelector('.finds'))],
    ['table', /** @type {HTMLElement} */ (document.querySelector('.brief'))],
  ]);
  const cards = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('article.find')]);

  /** Ignores case and accents. @param {string} text */
  const fold = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  /** Searchable text of a card, cached at its first search. @type {WeakMap<HTMLElement, string>} */
  const texts = new WeakMap();
  /** @param {HTMLElement} card */
  const getCardText = (card) => {
    const text = texts.get(card) ?? fold(`${card.textContent} ${card.dataset['words']}`);
    texts.set(card, text);
    return text;
  };

  const apply = () => {
    const values = new FormData(form);
    const words = fold(String(values.get('text') ?? ''))
      .split(/\s+/)
      .filter((word) => word !== '');
    const chosen = /** @type {const} */ (['state', 'period', 'type'])
      .map((name) => /** @type {const} */ ([name, String(values.get(name))]))
      .filter(([, value]) => value !== '*');
    const shown = new Set();
    for (const card of cards) {
      const fits =
        chosen.every(([name, value]) => card.dataset[name] === value) &&
        words.every((word) => getCardText(card).includes(word));
      card.hidden = !fits;
      if (fits) shown.add(card.id.slice('find-'.length));
    }
    for (const row of rows) row.hidden = !shown.has(row.dataset['find']);
    for (const [view, list] of lists) list.hidden = values.get('view') !== view;
    const isNarrowed = shown.size < cards.length;
    none.hidden = shown.size > 0;
    output.classList.toggle('narrowed', isNarrowed);
    output.textContent = (output.dataset['shown'] ?? '')
      .replace('{shown}', String(shown.size))
      .replace('{all}', output.dataset['all'] ?? '');
    document.dispatchEvent(
      new CustomEvent('finds-shown', { detail: isNarrowed ? shown : undefined }),
    );
  };

  /** @type {number | undefined} */
  let waiting;
  form.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, cards.length > 1000 ? 200 : 0);
  });
  // A reset shows all finds and keeps the current view.
  form.addEventListener('reset', () => {
    const view = chooser.value;
    setTimeout(() => {
      chooser.value = view;
      apply();
    });
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  // The address contains the view, so that it can be shared.
  form.addEventListener('change', () => {
    if (chooser.value === 'table') history.replaceState(null, '', '#table');
    else if (location.hash === '#table') history.replaceState(null, '', '#finds');
  });
  // A link of a map or of the table also leads to a card that was hidden.
  const follow = () => {
    const card = document.getElementById(location.hash.slice(1));
    if (location.hash === '#table') chooser.value = 'table';
    else if (card?.matches('article.find')) {
      chooser.value = 'cards';
      if (card.hidden) form.reset();
      setTimeout(() => card.scrollIntoView());
    }
    setTimeout(apply);
  };
  addEventListener('hashchange', follow);
  follow();
})();

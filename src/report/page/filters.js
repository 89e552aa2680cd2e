// Filters for the finds of the page, which is complete without this script. It makes no requests.
(() => {
  for (const element of document.querySelectorAll('.js-only')) element.removeAttribute('hidden');
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form.filters'));
  if (form === null) return;
  const output = /** @type {HTMLOutputElement} */ (form.querySelector('output'));
  const none = /** @type {HTMLElement} */ (document.querySelector('.none'));
  const cards = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('article.find')]);

  /** Ignores case and accents. @param {string} text */
  const fold = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  /** Searchable text of a card, cached at its first search. @type {WeakMap<HTMLElement, string>} */
  const texts = new WeakMap();
  /** @param {HTMLElement} card */
  const getCardText = (card) => {
    const text = texts.get(card) ?? fold(card.textContent);
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
  form.addEventListener('reset', () => setTimeout(apply));
  form.addEventListener('submit', (event) => event.preventDefault());
  // A link of a map also leads to a card that was hidden.
  const follow = () => {
    const card = document.getElementById(location.hash.slice(1));
    if (card?.matches('article.find')) {
      if (card.hidden) form.reset();
      setTimeout(() => card.scrollIntoView());
    }
    setTimeout(apply);
  };
  addEventListener('hashchange', follow);
  follow();
})();

// Enlarges a photograph on a click, Enter or Space; arrow keys show the next visible one, Esc
// closes.
(() => {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.querySelector('dialog.large'));
  if (dialog === null) return;
  const stage = /** @type {HTMLElement} */ (dialog.querySelector('.stage'));
  const caption = /** @type {HTMLElement} */ (dialog.querySelector('.caption'));
  const pictures = /** @type {HTMLElement[]} */ ([
    ...document.querySelectorAll('.photographs .picture'),
  ]);
  /** @type {HTMLElement | undefined} */
  let current;

  /** Photographs of finds that the filters show. */
  const listShown = () => pictures.filter((picture) => picture.closest('article[hidden]') === null);

  /** @param {HTMLElement} picture */
  const show = (picture) => {
    current = picture;
    const all = listShown();
    const card = picture.closest('article.find');
    const words = [
      card?.querySelector('h3')?.textContent,
      picture.parentElement?.querySelector('.name')?.textContent,
      `${all.indexOf(picture) + 1}/${all.length}`,
    ];
    const copy = /** @type {HTMLElement} */ (picture.cloneNode(true));
    for (const name of ['role', 'tabindex', 'aria-label']) copy.removeAttribute(name);
    stage.replaceChildren(copy);
    caption.textContent = words
      .filter((word) => word !== undefined && word !== null && word !== '')
      .join(' · ');
    for (const button of dialog.querySelectorAll('[data-step]'))
      button.toggleAttribute('disabled', all.length < 2);
    if (!dialog.open) dialog.showModal();
  };

  /** @param {number} by */
  const step = (by) => {
    const all = listShown();
    const place = current === undefined ? -1 : all.indexOf(current);
    const next = all[(place + by + all.length) % all.length];
    if (next !== undefined) show(next);
  };

  for (const picture of pictures) {
    const alt = picture.querySelector('img')?.alt ?? '';
    picture.tabIndex = 0;
    picture.setAttribute('role', 'button');
    picture.setAttribute('aria-label', `${alt}: ${dialog.dataset['open'] ?? ''}`);
    picture.addEventListener('click', () => show(picture));
    picture.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      show(picture);
    });
  }
  dialog.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  });
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (
    dialog.querySelectorAll('[data-step]')
  )) {
    button.addEventListener('click', () => step(Number(button.dataset['step'])));
  }
  dialog.querySelector('.close')?.addEventListener('click', () => dialog.close());
  // A click beside the photograph closes as well.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || event.target === stage) dialog.close();
  });
  // The focus returns to the photograph that was shown last, not to the first one.
  dialog.addEventListener('close', () => {
    stage.replaceChildren();
    current?.focus();
  });
})();

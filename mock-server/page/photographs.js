import { getPhotographAddress } from './control.js';
import { element, getPart } from './element.js';

/** @import { Photograph } from './control.js' */

/** Types that browsers draw; the service takes TIFF and HEIC too. */
const SHOWN_TYPES = ['image/jpeg', 'image/png'];
const LARGEST_SHOWN_BYTES = 30_000_000;

/**
 * A photograph as a small picture that opens large, or, where no browser draws it, as its name to
 * download.
 * @param {Photograph} photo
 * @param {string} caption
 */
export function makeThumbnail(photo, caption) {
  const address = getPhotographAddress(photo.id);
  if (!SHOWN_TYPES.includes(photo.type) || photo.size_bytes > LARGEST_SHOWN_BYTES) {
    const kind = photo.type.replace(/^image\//, '').toUpperCase();
    return element(
      'a',
      { class: 'thumbnail file', href: address, download: photo.name, title: photo.name },
      `${kind} ${formatSize(photo)}`,
    );
  }
  const picture = element('img', { src: address, alt: '', loading: 'lazy', decoding: 'async' });
  return element(
    'button',
    {
      type: 'button',
      class: 'thumbnail',
      'aria-label': `Photograph ${photo.name}`,
      title: photo.name,
      click: () => enlarge(photo, caption),
    },
    picture,
  );
}

/** @param {Photograph} photo @param {string} caption */
function enlarge(photo, caption) {
  const picture = getPart('photo-large', HTMLImageElement);
  picture.src = getPhotographAddress(photo.id);
  picture.alt = photo.name;
  getPart('photo-caption', HTMLElement).textContent =
    `${photo.name} · ${photo.type} · ${formatSize(photo)} · ${caption}`;
  getPart('photo-dialog', HTMLDialogElement).showModal();
}

/** Closes by its button, by Escape (the browser's own doing) and by a click beside the picture. */
export function preparePhotographDialog() {
  const dialog = getPart('photo-dialog', HTMLDialogElement);
  getPart('photo-close', HTMLButtonElement).addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
}

/** @param {Photograph} photo */
function formatSize({ size_bytes }) {
  if (size_bytes >= 1_048_576) return `${(size_bytes / 1_048_576).toFixed(1)} MiB`;
  return size_bytes >= 1024 ? `${Math.round(size_bytes / 1024)} KiB` : `${size_bytes} B`;
}

import type { Attachments } from '../tables/table.ts';

/** `several`: files of that name which nothing tells apart. */
type FoundAttachment = { readonly path: string } | 'missing' | 'several';

/** Where ODK Central puts all files of an export, each under a name of its own. */
const CENTRAL_FOLDER = 'media/';

/**
 * The file that an answer names. Names are those that the phone gave; KoboToolbox keeps files by filled form, in a folder called after
 * it, and writes some names in its own way.
 *
 * @param ids of the filled form
 */
export function attachmentFinder({ paths }: Attachments): (name: string, ids: readonly string[]) => FoundAttachment {
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1).normalize('NFC');
    byName.set(name, [...(byName.get(name) ?? []), path]);
  }
  return (name, ids) => {
    const written = name.normalize('NFC');
    const found = byName.get(written) ?? byName.get(nameAtKobo(written)) ?? [];
    const [only, another] = found;
    if (only === undefined) return 'missing';
    if (another === undefined) return { path: only };
    const own = found.filter((path) => path.split('/').some((part) => ids.includes(part)));
    const [best, equal] = own.length > 0 ? own : found.filter((path) => `/${path}`.includes(`/${CENTRAL_FOLDER}`));
    return best === undefined || equal !== undefined ? 'several' : { path: best };
  };
}

/** Blanks become `_`, and what is no letter, digit, `-`, `_` or `.` falls out, as Django's get_valid_filename has it. */
function nameAtKobo(name: string): string {
  return name
    .trim()
    .replaceAll(' ', '_')
    .replace(/[^-\p{L}\p{N}_.]/gu, '');
}

import type { Attachments } from '../tables/table.ts';

/** `several`: indistinguishable files of that name. */
type FoundAttachment = { readonly path: string } | 'missing' | 'several';

/** Folder in which ODK Central puts all files of an export under unique names. */
const CENTRAL_FOLDER = 'media/';

/**
 * Finds the file that an answer names. Names are those of the phone; KoboToolbox stores files in a folder per filled form and
 * rewrites some names.
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

/** Rewrites a name as Django's get_valid_filename: blanks become `_`; only letters, digits, `-`, `_` and `.` stay. */
function nameAtKobo(name: string): string {
  return name
    .trim()
    .replaceAll(' ', '_')
    .replace(/[^-\p{L}\p{N}_.]/gu, '');
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Language } from '../base/language.ts';
import { packageRoot } from '../base/package-root.ts';
import type { Places } from './places.ts';

export type NameKind = 'finds' | 'sets' | 'profiles';

type KnownName = { readonly text: string; readonly summary: string };

/** More names are of no use. */
const MAX_NAMES = 500;

/** Completes names. It loads little code, since the user is waiting after Tab. */
export async function listKnownNames(
  places: Places,
  kind: NameKind,
  partial: string,
  language: Language,
): Promise<KnownName[]> {
  try {
    switch (kind) {
      case 'finds':
        return await findNames(await findOutboxFile(places), partial);
      case 'sets':
        return setNames(language);
      case 'profiles': {
        const { readConfigFile } = await import('./config.ts');
        return [...readConfigFile(places.configFile).profiles.keys()].map((text) => ({
          text,
          summary: '',
        }));
      }
    }
  } catch {
    // For completion, a damaged, locked or unreadable file counts as empty.
    return [];
  }
}

async function findOutboxFile(places: Places): Promise<string | undefined> {
  const [{ findOutboxName, readConfigFile }, { makeOutboxPlaces }] = await Promise.all([
    import('./config.ts'),
    import('./places.ts'),
  ]);
  const { defaultProfile, profiles } = readConfigFile(places.configFile);
  const settings = profiles.get(defaultProfile ?? [...profiles.keys()][0] ?? '');
  const outbox = findOutboxName(settings ?? {});
  return outbox === undefined ? undefined : makeOutboxPlaces(places, outbox).outboxFile;
}

async function findNames(file: string | undefined, partial: string): Promise<KnownName[]> {
  if (file === undefined || !existsSync(file)) return [];
  const { openDatabase } = await import('../store/database.ts');
  const outbox = openDatabase(file, { synchronous: 'normal', readonly: true, busyTimeoutMs: 50 });
  try {
    return outbox
      .prepare(
        `select text from (
           select local_id as text from finds where hidden = 0
           union select ident_cely from entries where ident_cely is not null
         ) where substr(text, 1, length(:partial)) = :partial order by text limit ${MAX_NAMES}`,
      )
      .pluck()
      .all({ partial })
      .flatMap((text) => (typeof text === 'string' ? [{ text, summary: '' }] : []));
  } finally {
    outbox.close();
  }
}

type KnownSet = { readonly setSpec: string; readonly cs: string; readonly en: string };

function setNames(language: Language): KnownName[] {
  const sets = JSON.parse(
    readFileSync(join(packageRoot, 'schemas', 'contract', 'set-specs.json'), 'utf8'),
  ) as readonly KnownSet[];
  return sets.map((set) => ({ text: set.setSpec, summary: set[language] }));
}

import type { Issue } from '../../base/issue.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { ValidatedFind } from '../../find/rules.ts';
import { recordNew } from '../../outbox/change-log.ts';
import { addImport, addPhoto } from '../../outbox/entries.ts';
import type { EntryState, Photograph } from '../../outbox/entry.ts';
import { findImportOfFind, listEntriesOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import {
  findByLocalId,
  getImportedRow,
  insertFind,
  type StoredFind,
} from '../../outbox/stored-finds.ts';
import { copyContent, openContentStore } from '../../store/content-store.ts';
import { asFind, makeImportContent } from './enqueue-finds.ts';

type CopyOptions = {
  /** Validates by the rules of the target service. */
  readonly validate: (find: Find) => ValidatedFind;
  readonly photosFolders: { readonly from: string; readonly to: string };
  /** Project codes here → codes at the target service. */
  readonly projects?: ReadonlyMap<string, string>;
  readonly onProgress?: (doneCount: number, total: number) => void;
};

export type CopiedFind =
  | {
      readonly kind: 'copied';
      readonly localId: string;
      readonly state: EntryState;
      readonly photographs: number;
      /** Names of photographs whose copies are missing. */
      readonly lost: readonly string[];
      readonly issues: readonly Issue[];
    }
  /** The local id is taken in the other outbox. */
  | { readonly kind: 'taken'; readonly localId: string };

/**
 * Copies finds with local ids, elements and photographs into another outbox, without their results
 * and later numbers.
 */
export async function copyFinds(
  from: Outbox,
  to: Outbox,
  finds: readonly StoredFind[],
  options: CopyOptions,
): Promise<CopiedFind[]> {
  const copied: CopiedFind[] = [];
  for (const [index, stored] of finds.entries()) {
    options.onProgress?.(index, finds.length);
    copied.push(await copyFind(from, to, stored, options));
  }
  return copied;
}

async function copyFind(
  from: Outbox,
  to: Outbox,
  stored: StoredFind,
  options: CopyOptions,
): Promise<CopiedFind> {
  const { localId } = stored;
  const taken: CopiedFind = { kind: 'taken', localId };
  if (findByLocalId(to, localId) !== undefined) return taken;
  const find = withProject(asFind(stored), options.projects);
  const validated = options.validate(find);
  const { photographs, lost } = await copyPhotographs(from, stored, options.photosFolders);
  return to.change(() => {
    if (findByLocalId(to, localId) !== undefined) return taken;
    const findId = insertFind(to, {
      ...find,
      base: getImportedRow(stored) ?? null,
      sourcePath: stored.sourcePath,
    });
    recordNew(to, findId, find.localId);
    addImport(to, findId, makeImportContent(find, validated));
    for (const photograph of photographs) addPhoto(to, { findId, identCely: null }, photograph);
    const state = findImportOfFind(to, findId)?.state ?? 'draft';
    return {
      kind: 'copied',
      localId,
      state,
      photographs: photographs.length,
      lost,
      issues: validated.issues,
    };
  });
}

function withProject(find: Find, projects: ReadonlyMap<string, string> | undefined): Find {
  const { projekt } = find.elements;
  const other = projekt === undefined ? undefined : projects?.get(projekt.id);
  if (other === undefined) return find;
  const elements: FindElements = { ...find.elements, projekt: { id: other, text: other } };
  return { ...find, elements };
}

type CopiedPhotographs = {
  readonly photographs: readonly Photograph[];
  readonly lost: readonly string[];
};

/** Copies photographs except dropped ones. Linked ones stay linked. */
async function copyPhotographs(
  outbox: Outbox,
  { id }: StoredFind,
  folders: CopyOptions['photosFolders'],
): Promise<CopiedPhotographs> {
  const source = openContentStore(folders.from);
  const target = openContentStore(folders.to);
  const photographs: Photograph[] = [];
  const lost: string[] = [];
  for (const entry of listEntriesOfFind(outbox, id)) {
    if (entry.kind !== 'photo' || entry.state === 'dropped') continue;
    const { photograph } = entry;
    const isThere =
      photograph.link !== undefined || (await copyContent(photograph.sha512, source, target));
    if (isThere) photographs.push(photograph);
    else lost.push(photograph.name);
  }
  return { photographs, lost };
}

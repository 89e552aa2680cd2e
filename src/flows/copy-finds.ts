import {
  addImport,
  addNumber,
  addPhoto,
  entriesOfFind,
  type ImportContent,
  importOfFind,
  importsUnderOthers,
} from '../outbox/entries.ts';
import type { Entry, EntryState } from '../outbox/entry.ts';
import type { StoredFind } from '../outbox/finds.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { sentElsewhere } from './sent-elsewhere.ts';

type CopyContext = {
  readonly outbox: Outbox;
  /** The profile that the finds are to be sent with. */
  readonly profile: string;
  /** The import document of a find as this profile's service wants it. */
  readonly contentOf: (find: StoredFind) => ImportContent;
  /** Whether another profile is known to write to another service, so that the same find is to be made in both. */
  readonly isOtherService: (profile: string) => boolean;
};

/** Finds that other services' profiles have, and this one has never had, by the order in which they were entered. */
export function findsToCopy(
  { outbox, profile, isOtherService }: Omit<CopyContext, 'contentOf'>,
  finds: Iterable<StoredFind>,
): StoredFind[] {
  return [...finds].filter(({ id }) => {
    if (entriesOfFind(outbox, id, profile).some(({ kind }) => kind === 'import')) return false;
    if (sentElsewhere({ outbox, profile, isOtherService }, id) !== undefined) return false;
    return sourceOf(outbox, id, profile, isOtherService) !== undefined;
  });
}

/**
 * Queues finds under a second profile, as entries of its own: with their photographs, and with the number that was set
 * last. What became of them under the first profile stays as it is.
 * @returns what each is now
 */
export function copyFinds(context: CopyContext, finds: readonly StoredFind[]): EntryState[] {
  const { outbox, profile, isOtherService } = context;
  return finds.map((find) => {
    const content = context.contentOf(find);
    return outbox.change(() => {
      // Another pas may have copied it since it was looked for.
      if (!findsToCopy(context, [find]).includes(find)) return 'dropped';
      const source = sourceOf(outbox, find.id, profile, isOtherService);
      const entries = source === undefined ? [] : entriesOfFind(outbox, find.id, source.profile).filter(isWanted);
      const target = { profile, findId: find.id, identCely: null };
      addImport(outbox, profile, find.id, content);
      for (const entry of entries) if (entry.kind === 'photo') addPhoto(outbox, target, entry.photograph);
      const number = entries.filter((entry) => entry.kind === 'number').at(-1);
      if (number !== undefined) addNumber(outbox, target, number.value);
      return importOfFind(outbox, find.id, profile)?.state ?? 'dropped';
    });
  });
}

/** The profile that knows most about the find: where its import changed last. */
function sourceOf(outbox: Outbox, findId: number, profile: string, isOther: (profile: string) => boolean): Entry | undefined {
  const others = importsUnderOthers(outbox, findId, profile).filter((entry) => isOther(entry.profile));
  return others.reduce<Entry | undefined>(
    (latest, entry) => (latest === undefined || entry.updatedAt > latest.updatedAt ? entry : latest),
    undefined,
  );
}

function isWanted({ state }: Entry): boolean {
  return state !== 'dropped';
}

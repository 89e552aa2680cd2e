import { resolve } from 'node:path';
import { errorIssue, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import { readDefaults } from '../find/defaults.ts';
import type { Find } from '../find/find.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { photoResolver } from '../find/photo-path.ts';
import { readPhotoPosition } from '../find/photo-position.ts';
import { readPosition } from '../find/read-position.ts';
import { rememberReferences } from '../find/resolve-reference.ts';
import { type ValidatedFind, type ValidationContext, validateFind } from '../find/validate.ts';
import { importOfFind } from '../outbox/entries.ts';
import type { EntryState } from '../outbox/entry.ts';
import { findByLocalId } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import type { AnswerContext } from './answer.ts';
import { enqueueFinds } from './enqueue-finds.ts';
import { foldUnchecked } from './fold-issues.ts';
import type { PhotographKeeping } from './kept-photographs.ts';
import { type Started, type StartOptions, sameAs, startFind } from './start-find.ts';
import type { SuggestContext } from './suggest-values.ts';

export type AddingSources = {
  readonly outbox: ServiceOutbox;
  readonly known: ValidationContext & { readonly lookupTerm: LookupTerm };
  readonly keeping: PhotographKeeping;
  /** Where file names start from. */
  readonly folder: string;
  readonly profile: string;
  /** What the configuration says of new finds, and where it stands. */
  readonly configFile: string;
  readonly defaults: Parameters<typeof readDefaults>[1];
};

/** What is said of a find beforehand. */
export type Beginning = {
  /** `element=value` */
  readonly set?: readonly string[];
  /** Another find, that lends what is not its alone. */
  readonly sameAs?: string;
  readonly point?: string;
  /** The photograph that was taken there. */
  readonly pointFrom?: string;
  readonly photo?: readonly string[];
};

/** What both ways of adding a find share: at once, and by asking. */
export type Adding = {
  readonly outbox: ServiceOutbox;
  readonly answers: AnswerContext;
  readonly suggestions: SuggestContext;
  /** Everything that speaks against the find in its target state. */
  readonly check: (find: Find) => readonly Issue[];
  /** Puts it into the outbox: queued if it is complete and to be sent, else as a draft. */
  readonly save: (find: Find, wish: Wish) => Promise<Saved>;
  /** A find as it begins; only the first one has the point and the photographs that were named. */
  readonly start: (base: Find, which: 'first' | 'further') => Promise<Started>;
};

type Wish = 'send' | 'draft' | 'unfinished';

/** Without id and state, nothing was saved. */
export type Saved = {
  readonly id: number | null;
  readonly find: Find;
  readonly state: EntryState | null;
  readonly photosAdded: number;
  readonly issues: readonly Issue[];
};

export const NEW_FIND: Find = { localId: '', elements: {}, photos: [] };

export function openAdding(sources: AddingSources, beginning: Beginning): Adding {
  const { outbox, known, keeping, folder, profile, configFile, defaults } = sources;
  const references = { resolveReference: rememberReferences(known.lookupTerm), resolvePhoto: photoResolver(folder) };
  const enteredNow = new Set<string>();
  const validate = (find: Find): ValidatedFind => validateFind(find, known);
  return {
    outbox,
    answers: {
      ...known,
      ...references,
      folder,
      isTaken: (localId) => findByLocalId(outbox, localId) !== undefined,
      inspectPhotograph: keeping.inspectPhotograph,
      readPhotoPosition,
    },
    suggestions: {
      ...references,
      outbox,
      profile,
      defaults: readDefaults(configFile, defaults),
      today: known.today,
      enteredNow,
    },
    check: (find) => validate(find).issues,
    save: async (find, wish) => {
      const { finds, issues, unchecked } = await enqueueFinds([find], {
        ...keeping,
        outbox,
        validate: holding(validate, wish),
        dryRun: false,
      });
      if (wish !== 'unfinished') enteredNow.add(find.localId);
      const id = findByLocalId(outbox, find.localId)?.id ?? null;
      return {
        id,
        find,
        state: (id === null ? undefined : importOfFind(outbox, id)?.state) ?? 'draft',
        photosAdded: finds[0]?.photosAdded ?? 0,
        issues: foldUnchecked(
          issues.filter(({ rule }) => !HOLDING_RULES.includes(rule)),
          unchecked,
        ),
      };
    },
    start: async (base, which) => {
      const lent = beginning.sameAs === undefined ? {} : sameAs(outbox, beginning.sameAs);
      const said = which === 'first' ? await startOptions(folder, beginning) : NOTHING_SAID;
      return startFind({ ...base, elements: { ...lent, ...base.elements } }, said, references);
    },
  };
}

const NOTHING_SAID: StartOptions = { set: [], position: undefined, photos: [] };

async function startOptions(folder: string, { set = [], point, pointFrom, photo = [] }: Beginning): Promise<StartOptions> {
  const ofPoint = point === undefined ? undefined : readPosition(point);
  const position = pointFrom === undefined ? ofPoint : await readPhotoPosition(resolve(folder, pointFrom));
  return { set, position, photos: photo.map((file) => resolve(folder, file)) };
}

const HOLDING_RULES: readonly string[] = ['unfinished', 'kept-as-draft'];

/** A find that is complete by chance is not sent while somebody is still at it, or wants it kept. */
export function holding(validate: (find: Find) => ValidatedFind, wish: Wish): (find: Find) => ValidatedFind {
  if (wish === 'send') return validate;
  return (find) => {
    const { document, issues } = validate(find);
    const word = shellWord(find.localId);
    const [rule, reason] =
      wish === 'unfinished'
        ? ['unfinished', t`The find is unfinished. Go on with it: pas add --resume ${word}`]
        : ['kept-as-draft', t`The find is kept as a draft. To finish it: pas add --resume ${word}`];
    return { document, issues: [...issues, errorIssue(rule, reason, { find: find.localId })] };
  };
}

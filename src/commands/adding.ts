import { resolve } from 'node:path';
import { errorIssue, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { foldUnchecked, openValidationContext, photographKeeping } from '../context/validation.ts';
import { type DefaultsFile, NO_DEFAULTS, readDefaults } from '../find/defaults.ts';
import type { Find } from '../find/find.ts';
import { photoResolver } from '../find/photo-path.ts';
import { readPhotoPosition } from '../find/photo-position.ts';
import { type Position, readPosition } from '../find/read-position.ts';
import type { Reading } from '../find/reading.ts';
import { rememberReferences } from '../find/resolve-reference.ts';
import { validateFind } from '../find/validate.ts';
import type { AnswerContext } from '../flows/answer.ts';
import { enqueueFinds } from '../flows/enqueue-finds.ts';
import { type Started, type StartOptions, sameAs, startFind } from '../flows/start-find.ts';
import type { SuggestContext } from '../flows/suggest-values.ts';
import { importOfFind } from '../outbox/entries.ts';
import { findByLocalId } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { issueValues } from '../ui/issues.ts';
import type { Terminal } from '../ui/terminal.ts';

export type AddOptions = GlobalOptions & {
  readonly set?: readonly string[];
  readonly sameAs?: string;
  readonly point?: string;
  readonly pointFrom?: string;
  readonly photo?: readonly string[];
  readonly link?: boolean;
  readonly stripGps?: boolean;
  readonly draft?: boolean;
  readonly resume?: string | true;
};

/** What both ways of adding a find share: from flags, and by asking. */
export type Adding = {
  readonly context: Context;
  readonly outbox: ServiceOutbox;
  readonly answers: AnswerContext;
  readonly suggestions: Omit<SuggestContext, 'enteredNow'>;
  /** Everything that speaks against the find in its target state. */
  readonly check: (find: Find) => readonly Issue[];
  /** Puts it into the outbox: queued if it is complete and to be sent, else as a draft. */
  readonly save: (find: Find, wish: 'send' | 'draft' | 'unfinished') => Promise<Saved>;
  /** A find as the flags begin it; only the first one has the point and the photographs that they name. */
  readonly start: (base: Find, which: 'first' | 'further') => Promise<Started>;
};

type Saved = {
  readonly find: Find;
  readonly state: string;
  readonly photosAdded: number;
  /** What identifiers were taken without a look into their vocabulary is one of them. */
  readonly issues: readonly Issue[];
};

export const EMPTY_FIND: Find = { localId: '', elements: {}, photos: [] };

export async function openAdding(context: Context, options: AddOptions): Promise<Adding> {
  const outbox = await context.outbox();
  const validation = await openValidationContext(context);
  const keeping = photographKeeping(context, options);
  const references = {
    resolveReference: rememberReferences(validation.lookupTerm ?? (() => ({ kind: 'not-harvested' }))),
    resolvePhoto: photoResolver(context.cwd),
  };
  const validate = (find: Find) => validateFind(find, validation);
  const save: Adding['save'] = async (find, wish) => {
    const held = (validated: ReturnType<typeof validate>) =>
      wish === 'send' ? validated : { ...validated, issues: [...validated.issues, reasonToHold(find, wish)] };
    const report = await enqueueFinds([find], {
      outbox,
      validate: (each) => held(validate(each)),
      ...keeping,
      dryRun: false,
    });
    const stored = findByLocalId(outbox, find.localId);
    return {
      find,
      state: (stored && importOfFind(outbox, stored.id)?.state) ?? 'draft',
      photosAdded: report.finds[0]?.photosAdded ?? 0,
      issues: foldUnchecked(
        report.issues.filter(({ rule }) => !HOLDING_RULES.includes(rule)),
        report.unchecked,
      ),
    };
  };
  return {
    context,
    outbox,
    answers: {
      ...validation,
      ...references,
      folder: context.cwd,
      isTaken: (localId) => findByLocalId(outbox, localId) !== undefined,
      inspectPhotograph: keeping.inspectPhotograph,
      readPhotoPosition,
    },
    suggestions: {
      ...references,
      outbox,
      profile: context.profile().name,
      defaults: defaultsOf(context),
      today: validation.today,
    },
    check: (find) => validate(find).issues,
    save,
    start: async (base, which) => {
      const lent = options.sameAs === undefined ? {} : sameAs(outbox, options.sameAs);
      const said = which === 'first' ? await startOptions(context, options) : NOTHING_SAID;
      return startFind({ ...base, elements: { ...lent, ...base.elements } }, said, references);
    },
  };
}

function defaultsOf({ config, places }: Context): DefaultsFile {
  const { defaults } = config();
  return defaults === undefined ? NO_DEFAULTS : readDefaults(places.configFile, defaults);
}

const NOTHING_SAID: StartOptions = { set: [], position: undefined, photos: [] };

async function startOptions({ cwd }: Context, { set = [], point, pointFrom, photo = [] }: AddOptions): Promise<StartOptions> {
  const position: Reading<Position> | undefined =
    pointFrom === undefined
      ? point === undefined
        ? undefined
        : readPosition(point)
      : await readPhotoPosition(resolve(cwd, pointFrom));
  return { set, position, photos: photo.map((file) => resolve(cwd, file)) };
}

const HOLDING_RULES: readonly string[] = ['unfinished', 'kept-as-draft'];

/** A find that is complete by chance is not sent while somebody is still at it. */
export function reasonToHold({ localId }: Find, wish: 'draft' | 'unfinished'): Issue {
  const where = { find: localId };
  const word = shellWord(localId);
  return wish === 'unfinished'
    ? errorIssue('unfinished', t`The find is unfinished. Go on with it: pas add --resume ${word}`, where)
    : errorIssue('kept-as-draft', t`The find is kept as a draft. To finish it: pas add --resume ${word}`, where);
}

/** What became of it, in a line. */
export function savedText({ find: { localId }, state }: Saved): string {
  const word = shellWord(localId);
  if (state === 'uncertain')
    return t`${localId} is saved and held: its like may have been sent before the outbox was put back. Look: pas reconcile`;
  return state === 'queued'
    ? t`${localId} is saved, ready to be sent.`
    : t`${localId} is kept as a draft. To finish it: pas add --resume ${word}`;
}

export function savedValue(
  terminal: Terminal,
  adding: Adding,
  { find, state, photosAdded, issues }: Saved,
): Record<string, unknown> {
  return {
    find: findByLocalId(adding.outbox, find.localId)?.id ?? null,
    local_id: find.localId,
    state,
    elements: find.elements,
    photos: photosAdded,
    issues: issueValues(terminal, issues),
  };
}

import { addHiddenDifference, removeFullStop } from '../base/characters.ts';
import { type ExitReason, UsageError } from '../base/errors.ts';
import {
  type Command,
  cmd,
  formatMoment,
  type Message,
  msg,
  msgid,
  ngettext,
  quoteShellWord,
  t,
} from '../base/message.ts';
import {
  ANSWERS_OF_ROWS,
  type Entry,
  type HeldQuestion,
  hasIdentForm,
  isAboutRow,
  isAnswerable,
  type RowAnswer,
} from '../outbox/entry.ts';
import type { Candidate } from '../outbox/facts.ts';
import type { StopCause } from '../push/push-context.ts';
import type { OpenDecision, PersonDecision } from '../push/resolve-entries.ts';
import type { Context } from './context/context.ts';

/** Prints the commands that send what a command has queued; nothing under `--quiet`. */
export function printNextStep({ terminal }: Context): void {
  terminal.note(t`Next: \`${cmd`pas status`}\`, then \`${cmd`pas push`}\` when you are online.`);
}

/**
 * Returns the command by which a person settles an entry: `pas edit` for a draft, a refused find or
 * one of its two versions, `pas resolve` for what is held, uncertain, or a refused number or
 * photograph. For an entry that waits for no person it is `pas show`.
 */
export function getSettlingCommand({ id, kind, state, held, find }: Entry): Command {
  const isInDoubt = held !== null || state === 'uncertain';
  if (kind !== 'import' && (isInDoubt || state === 'refused'))
    return cmd`pas resolve ${find} --entry ${id}`;
  const isEdited =
    (held === null || !isAboutRow(held)) &&
    (state === 'refused' || state === 'draft' || !isAnswerable({ held }));
  if (isEdited) return cmd`pas edit ${find}`;
  return isInDoubt ? cmd`pas resolve ${find}` : cmd`pas show ${find}`;
}

/**
 * Returns the words that `pas resolve --answer` accepts for the question of an entry; empty without
 * a question, or where it cannot be answered by a word. `same` is among them only where it means
 * one find here, or one record.
 */
export function listAnswerWords(held: HeldQuestion | null): readonly RowAnswer[] {
  if (held === null || !isAnswerable({ held })) return [];
  if (isAboutRow(held)) return ANSWERS_OF_ROWS[held.basis];
  const { basis, candidates } = held;
  const meant = findMeantCandidate(candidates);
  const isOneRecord =
    candidates.length === 1 && hasIdentForm(meant?.name ?? '') && basis !== 'number-used';
  const isOneFind = basis === 'alike-here' && meant !== undefined;
  return isOneFind || isOneRecord ? ['same', 'new'] : ['new'];
}

/**
 * Returns the candidate that the answer `same` means: the first with the match `same`, else the
 * only one; undefined where several are only near.
 */
export function findMeantCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  const [first, ...others] = candidates;
  const only = others.length === 0 ? first : undefined;
  return candidates.find(({ matched }) => matched === 'same') ?? only;
}

/**
 * Converts the question of a held entry to JSON, as the key `held`; an object without keys where
 * the entry is not held.
 */
export function toHeldQuestionJson({ held }: Entry): { readonly held?: Record<string, unknown> } {
  if (held === null) return {};
  const { question, basis } = held;
  const candidates = held.candidates.map(({ name }) => name);
  const answers = listAnswerWords(held);
  return { held: { question: String(question), basis, candidates, answers } };
}

/**
 * Formats why a push stopped, without a full stop; of `waiting` and `not-yet` with the time until
 * which nothing is sent.
 */
export function formatStopCause(cause: StopCause): string {
  const reason =
    cause.kind === 'interrupted' ? t`interrupted` : removeFullStop(String(cause.reason));
  if (cause.kind !== 'waiting' && cause.kind !== 'not-yet') return reason;
  const until = formatMoment(cause.untilMs);
  return t`${reason} (until ${until})`;
}

/** Exit reason of a push by the cause for which it stopped before its end. */
export const EXIT_REASON_OF_STOP: Readonly<Record<StopCause['kind'], ExitReason>> = {
  interrupted: 'interrupted',
  'not-allowed': 'notAllowed',
  'new-people': 'dataRefused',
  closed: 'unavailable',
  unreachable: 'unavailable',
  waiting: 'unavailable',
  'not-yet': 'unavailable',
  'in-doubt': 'unavailable',
};

/** Note before a push that first searches the service, since it does not know what was sent. */
export const LOST_LEDGER_NOTE = msg`The ledger that this outbox was pushed with is missing. Before sending, pas searches the service for entries that are not sent yet.`;

/** Formats `1 find` or `5 finds`, in the current language. */
export function formatFindCount(count: number): string {
  return ngettext(msgid`${count} find`, `${count} finds`, count);
}

export function formatPhotographCount(count: number): string {
  return ngettext(msgid`${count} photograph`, `${count} photographs`, count);
}

export function formatNumberCount(count: number): string {
  return ngettext(msgid`${count} number`, `${count} numbers`, count);
}

/** Words for the kind of an instance, in the middle of a sentence. */
export const INSTANCE_WORDS = { production: msg`production`, training: msg`training` } as const;

/**
 * Formats an object of JSON as lines for people: `name: value`, children indented, a list as a
 * repeated name, null left out. In place of a value that the service masks there is a remark.
 */
export function formatJsonTree(value: object): string[] {
  return Object.entries(value).flatMap(([name, child]: [string, unknown]) =>
    (Array.isArray(child) ? child : [child]).flatMap((one) => formatBranch(name, one)),
  );
}

function formatBranch(name: string, value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [`${name}: ${value}`];
  if ('masked' in value) return [`${name}: (${t`not shown to this account`})`];
  const { '@id': id, '@lang': lang, '#text': text, ...rest } = value as Record<string, unknown>;
  const marks = [id, lang].filter((mark) => mark !== undefined).map((mark) => ` (${mark})`);
  const ownText = text === undefined ? '' : ` ${text}`;
  return [
    `${name}:${ownText}${marks.join('')}`,
    ...formatJsonTree(rest).map((line) => `  ${line}`),
  ];
}

/** A number that would replace the one that a find or record has. */
export type Replacement = {
  readonly find: string;
  readonly value: string;
  readonly replaces: string;
};

/**
 * Makes the error that a number was not queued, since it would replace another one; the hint has
 * the command that replaces it.
 */
export function makeNotReplacedError({ find, value, replaces }: Replacement): UsageError {
  return new UsageError(
    addHiddenDifference(
      t`${find} has the number ${replaces}, which ${value} would replace. Nothing was queued.`,
      replaces,
      value,
    ),
    {
      hint: t`To replace it: ${cmd`pas number set ${find} ${value} --replace`}`,
    },
  );
}

/** An answer in words, and the flag that gives it. */
export type Way = readonly [words: Message, flag: string];

/** Lists the possible decisions: with each known record, and with another one. */
export function listWays({ kinds, candidates, entry }: OpenDecision): Way[] {
  const makeCreatedWay = (words: Message, ident: string): Way => [words, `--created ${ident}`];
  const seen = candidates.map((ident) =>
    makeCreatedWay(msg`the service has it, in the record ${ident}`, ident),
  );
  const { kind, held, identCely: target } = entry;
  const isChange = kind !== 'import' && held !== null && target !== null;
  const elsewhere = msg`the service has it, in another record, whose identifier its website shows`;
  const ways: Record<PersonDecision['kind'], readonly Way[]> = {
    created: kind === 'import' ? [...seen, makeCreatedWay(elsewhere, 'IDENT')] : seen,
    resend: [
      [
        isChange ? msg`send it to ${target}` : msg`send it again; the service does not have it`,
        '--resend',
      ],
    ],
    drop: [[msg`drop it`, '--drop']],
  };
  return kinds.flatMap((kind) => ways[kind]);
}

/** Formats how to keep the shown one of two versions: only a change makes one of two. */
export function formatKeeping(entry: Entry, find: string): Message {
  const command = getKeepingCommand(entry, find);
  return msg`keep the version that is shown here: ${command}`;
}

function getKeepingCommand(entry: Entry, find: string): Message {
  switch (entry.kind) {
    case 'import':
      return cmd`pas edit ${find}`;
    case 'number':
      return cmd`pas number set ${find} ${entry.value} --replace`;
    case 'photo':
      return cmd`pas photo add ${find} ${entry.photograph.source ?? entry.photograph.name}`;
  }
}

/** Joins the first `most` names as words of a command line, and marks that there are more. */
export function joinShellWords(names: readonly string[], most: number): string {
  const words = names.slice(0, most).map((name) => quoteShellWord(name));
  return `${words.join(' ')}${names.length > most ? ' …' : ''}`;
}

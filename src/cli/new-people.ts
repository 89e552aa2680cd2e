import { cmd, msgid, ngettext, t } from '../base/message.ts';
import type { TermCandidate } from '../finds/find.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import {
  listNewFinders,
  type NewPerson,
  storeAcceptedPeople,
} from '../outbox/views/outbox-status.ts';
import type { Context } from './context/context.ts';
import { openMappedLookup } from './context/open-service.ts';
import { formatFindCount } from './result-texts.ts';

const MAX_SHOWN = 20;

/**
 * Lists the finders of queued finds for whom the service would create people, with the most similar
 * people of the vocabulary; also those that a person has accepted (`isAccepted`). Empty where no
 * people were harvested.
 * @param subjects uuids of finds to look at; undefined for all
 * @throws ConfigError where no profile is chosen; DatabaseError where outbox or vocabulary is
 * unusable
 */
export async function listNewPeopleOfProfile(
  context: Context,
  outbox: Outbox,
  subjects?: readonly string[],
): Promise<readonly NewPerson[]> {
  return (await listNewFinders(outbox, () => openMappedLookup(context), subjects)).people;
}

/**
 * Prints up to {@link MAX_SHOWN} finders that no person has accepted, with the nearest people and
 * the commands that settle them; nothing where all are accepted.
 * @param people from {@link listNewPeopleOfProfile}
 * @param print called with each line; by default it is a warning
 */
export function printNewPeople(
  { terminal }: Context,
  people: readonly NewPerson[],
  print = terminal.warn,
): void {
  const remaining = people.filter(({ isAccepted }) => !isAccepted);
  const count = remaining.length;
  if (count === 0) return;
  print(
    ngettext(
      msgid`${count} finder is not known to the service by exactly this name; the service would create a new person:`,
      `${count} finders are not known to the service by exactly these names; the service would create new people:`,
      count,
    ),
  );
  for (const person of remaining.slice(0, MAX_SHOWN)) printNewPerson(person, print);
  const more = count - MAX_SHOWN;
  if (more > 0) print(`  ${t`… and ${more} more (${cmd`pas status --json`})`}`);
  print(t`If they are new: ${cmd`pas push --accept-new-people`}`);
}

function printNewPerson(
  { name, finds, first, nearest, similar }: NewPerson,
  print: (line: string) => void,
): void {
  const all = formatFindCount(finds.length);
  print(`  ${t`${name}: ${all}, the first is ${first}`}`);
  const others = similar.join('; ');
  if (others !== '') print(`    ${t`Perhaps the same person as ${others}.`}`);
  const [known] = nearest;
  if (known === undefined) return;
  const { id } = known;
  const names = nearest.map(formatPerson).join('; ');
  print(
    `    ${t`Nearest: ${names}.`} ${t`To use the first: ${cmd`pas edit ${first} --set nalezce=${id}`}`}`,
  );
}

/** Formats `label (identifier)`, with what the vocabulary says about the person. */
function formatPerson({ id, label, about }: TermCandidate): string {
  return about === undefined ? `${label} (${id})` : `${label} (${id}, ${about})`;
}

/**
 * Converts finders to JSON: `finds` is the number of their finds, `similar` are other new names,
 * and `nearest` are people of the vocabulary.
 */
export function toNewPeopleJson(people: readonly NewPerson[]): Record<string, unknown>[] {
  return people.map(({ name, finds, isAccepted, nearest, similar }) => ({
    name,
    finds: finds.length,
    accepted: isAccepted,
    similar,
    nearest: nearest.map(({ id, label }) => ({ id, label })),
  }));
}

type Admission = {
  readonly outbox: Outbox;
  /** Uuids of finds to look at; undefined for all. */
  readonly subjects: readonly string[] | undefined;
  /** All are accepted beforehand: `--accept-new-people`. */
  readonly isAllAccepted: boolean;
  /** A person can answer now. */
  readonly mayAsk: boolean;
};

/**
 * Decides if the service may create people for unknown finders, and stores those that it may create
 * as accepted. Finders whom the museum's mapping knows by now are replaced in their finds before.
 * The others are printed, and a person is asked about all of them at once, unless they are accepted
 * beforehand.
 * @returns false where the service may not create them; then nothing should be sent
 * @throws InterruptedError on Ctrl-C; ConfigError where the schema cannot be used; DatabaseError;
 * UsageError where a find was changed meanwhile, or the mapping has an error
 */
export async function admitNewPeople(
  context: Context,
  { outbox, subjects, isAllAccepted, mayAsk }: Admission,
): Promise<boolean> {
  const openContext = async () =>
    (await import('./context/find-input.ts')).openConversionContext(context);
  const lookup = async () => (await openContext()).lookupTerm;
  const { people, mapped } = await listNewFinders(outbox, lookup, subjects);
  if (mapped.length > 0) {
    const { replaceFinder } = await import('./interview/edit-find.ts');
    const ruleContext = await openContext();
    for (const [id, finds] of mapped) replaceFinder({ outbox, ruleContext }, finds, id);
  }
  const open = people.filter(({ isAccepted }) => !isAccepted);
  if (open.length === 0) return true;
  if (!isAllAccepted) {
    printNewPeople(context, open);
    context.terminal.printValue({ type: 'new_people', people: toNewPeopleJson(open) });
    if (!mayAsk) return false;
    const prompt = await context.prompt();
    if (!(await prompt.confirm(t`Let the service create them?`))) return false;
  }
  storeAcceptedPeople(outbox, open);
  return true;
}

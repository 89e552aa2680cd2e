import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context } from '../../context/context.ts';
import { openLookups } from '../../context/open-service.ts';
import type { TermCandidate } from '../../find/lookup.ts';
import { acceptNewPeople, listNewPeople, type NewPerson } from '../../flows/finds/outbox-status.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { formatFindCount } from '../result-texts.ts';

const MAX_SHOWN = 20;

/** Finds finders of queued finds whom the service would create. */
export async function findNewPeople(
  context: Context,
  outbox: Outbox,
  subjects?: readonly string[],
) {
  return listNewPeople(outbox, async () => (await openLookups(context)).lookupTerm, subjects);
}

/**
 * Prints up to {@link MAX_SHOWN} unknown, not accepted finders, with the nearest people; nothing
 * where there are none.
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
  for (const { name, finds, first, nearest, similar } of remaining.slice(0, MAX_SHOWN)) {
    const all = formatFindCount(finds.length);
    print(`  ${t`${name}: ${all}, the first is ${first}`}`);
    const others = similar.join('; ');
    if (others !== '') print(`    ${t`Perhaps the same person as ${others}.`}`);
    const [{ id } = { id: '' }] = nearest;
    if (id === '') continue;
    const names = nearest.map(formatPerson).join('; ');
    print(
      `    ${t`Nearest: ${names}.`} ${t`To use the first: ${cmd`pas edit ${first} --set nalezce=${id}`}`}`,
    );
  }
  const more = count - MAX_SHOWN;
  if (more > 0) print(`  ${t`… and ${more} more (${cmd`pas status --json`})`}`);
  print(t`If they are new: ${cmd`pas push --accept-new-people`}`);
}

export function toNewPeopleJson(people: readonly NewPerson[]): Record<string, unknown>[] {
  return people.map(({ name, finds, isAccepted, nearest, similar }) => ({
    name,
    finds: finds.length,
    accepted: isAccepted,
    similar,
    nearest: nearest.map(({ id, label }) => ({ id, label })),
  }));
}

/** Formats a person with identifier, and more details where they are known. */
export function formatPerson({ id, label, about }: TermCandidate): string {
  return about === undefined ? `${label} (${id})` : `${label} (${id}, ${about})`;
}

type Admission = {
  readonly outbox: Outbox;
  readonly subjects: readonly string[] | undefined;
  readonly isAllAccepted: boolean;
  readonly mayAsk: boolean;
};

/**
 * Decides about new people by a flag, or asks and stores the answers; false where the creation of
 * one is not confirmed.
 */
export async function admitNewPeople(
  context: Context,
  { outbox, subjects, isAllAccepted, mayAsk }: Admission,
): Promise<boolean> {
  const people = await findNewPeople(context, outbox, subjects);
  const open = people.filter(({ isAccepted }) => !isAccepted);
  if (open.length === 0) return true;
  if (isAllAccepted) {
    acceptNewPeople(outbox, open);
    return true;
  }
  if (mayAsk) {
    const { askAboutNewPerson } = await import('../../flows/interview/choose-finders.ts');
    const { replaceFinder } = await import('../../flows/interview/edit-find.ts');
    const { openValidationContext } = await import('../../context/validation.ts');
    const ruleContext = await openValidationContext(context);
    for (const person of open) {
      const answer = await askAboutNewPerson(person, await context.prompt());
      if (answer === 'stop') return false;
      if (answer === 'new') acceptNewPeople(outbox, [person]);
      else replaceFinder({ outbox, ruleContext }, person.finds, answer.id);
    }
    return true;
  }
  printNewPeople(context, open);
  context.terminal.printValue({ type: 'new_people', people: toNewPeopleJson(open) });
  return false;
}

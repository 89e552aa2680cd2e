import { type DefaultsFile, defaultsFor, type FindDefaults } from '../find/defaults.ts';
import type { Find, FindElements } from '../find/find.ts';
import type { RowContext } from '../find/map-row.ts';
import { nextLocalId } from '../find/next-local-id.ts';
import { carriedFrom } from '../find/questions.ts';
import { inOrder, readSettings } from '../find/settings.ts';
import { findByLocalId, latestFinds } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import type { Suggested } from './interview-world.ts';

type SuggestContext = RowContext & {
  readonly outbox: ServiceOutbox;
  readonly profile: string;
  readonly defaults: DefaultsFile;
  /** YYYY-MM-DD */
  readonly today: string;
  /** Finds that were entered in this sitting: the next one was found on the same day. */
  readonly enteredNow: ReadonlySet<string>;
};

/** Enough for those that were used lately. */
export const LATEST = 40;

/**
 * What is offered for a find: what the last finds of its project had, else what config.toml says of the project, else of the profile.
 */
export function suggestValues(find: Find, context: SuggestContext): Suggested {
  const { outbox, profile, defaults, today, enteredNow } = context;
  const latest = latestFinds(outbox, LATEST).filter(({ localId }) => localId !== find.localId);
  const elementsOf = (stored: { readonly elements: Readonly<Record<string, unknown>> }): FindElements =>
    stored.elements as FindElements;
  const chosen = find.elements.projekt?.id;
  const project = chosen ?? latest.map((stored) => elementsOf(stored).projekt?.id).find((id) => id !== undefined);
  const ofProject = latest.filter((stored) => elementsOf(stored).projekt?.id === project);
  // An element that the last one lacks is offered from the one before it.
  const carried: FindElements = Object.assign({}, ...ofProject.map((stored) => carriedFrom(elementsOf(stored))).reverse());
  const isSameDay = ofProject[0] !== undefined && enteredNow.has(ofProject[0].localId);
  return {
    localId: nextLocalId(
      latest.map(({ localId }) => localId),
      (id) => findByLocalId(outbox, id) !== undefined,
    ),
    elements: inOrder({
      ...startingElements(defaultsFor(defaults, profile, project), context),
      ...carried,
      datum_nalezu: (isSameDay ? carried.datum_nalezu : undefined) ?? today,
    }),
  };
}

/** Defaults as elements; an entry that cannot be looked up is left out, since it is only an offer. */
export function startingElements(defaults: FindDefaults, context: RowContext): FindElements {
  return readSettings(defaults, '', context).elements;
}

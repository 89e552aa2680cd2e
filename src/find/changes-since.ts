import { t } from '../base/language.ts';
import { FIELDS } from './fields.ts';
import type { ElementName, FindElements } from './find.ts';
import { differingElements, type HarvestedFind } from './harvested-find.ts';
import { NEW_PERSON } from './resolve-reference.ts';

/** States of a find at the service (contract, "States and transitions"). */
const STATE_NAMES: Readonly<Record<number, string>> = {
  1: t`registered`,
  2: t`submitted`,
  3: t`confirmed`,
  4: t`archived`,
};

export function stateText(stav: number): string {
  return STATE_NAMES[stav] === undefined ? String(stav) : `${stav} ${STATE_NAMES[stav]}`;
}

/** An element that is no longer as it was sent; null where it is absent. */
export type Change = { readonly element: ElementName; readonly sent: string | null; readonly now: string | null };

/** What the service has otherwise than it was sent, the state included, in the order of the schema. */
export function changesSince(sent: FindElements, record: HarvestedFind): Change[] {
  const differing = new Set<ElementName>(differingElements(sent, record));
  if (sent.stav !== record.stav) differing.add('stav');
  return FIELDS.filter(({ name }) => differing.has(name)).map(({ name }) => ({
    element: name,
    sent: valueText(sent[name]),
    now: name === 'stav' ? String(record.stav) : valueText(record.elements[name]),
  }));
}

/** As people read it; null where there is none. A person who goes by name has no identifier yet. */
export function valueText(value: FindElements[ElementName] | HarvestedFind['elements'][ElementName]): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if (value.id === NEW_PERSON) return value.text;
  return value.text === '' || value.text === value.id ? value.id : `${value.text} (${value.id})`;
}

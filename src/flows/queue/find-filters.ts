import { UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { parseSetting } from '../../columns/settings.ts';
import { isElementName } from '../../find/fields.ts';
import { ENTRY_STATES } from '../finds/entry-words.ts';
import type { FindChoice } from '../finds/select-finds.ts';

/** Parses filters `element=value`, `state=…`, `since=…`, `until=…` and `text=…`. @throws UsageError for an invalid one */
export function parseChoice(filters: readonly string[]): FindChoice {
  const [named, otherNames] = [new Map<string, string>(), [] as string[]];
  for (const filter of filters) {
    const [, name = '', value = ''] = /^\s*(state|since|until|text)\s*=(.*)$/s.exec(filter) ?? [];
    if (name === '') otherNames.push(filter);
    else named.set(name, value.trim());
  }
  const [state, since, until, text] = ['state', 'since', 'until', 'text'].map((name) => named.get(name));
  for (const day of [since, until]) {
    if (day !== undefined && !/^\d{4}-\d\d-\d\d$/.test(day))
      throw new UsageError(t`"${day}" is not a date. Write it as YYYY-MM-DD.`);
  }
  return {
    ...(state === undefined ? {} : { state: parseStates(state) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(text === undefined ? {} : { text }),
    elements: otherNames.map(parseElementFilter),
  };
}

function parseStates(text: string) {
  const words = text.split(/[\s,]+/);
  const unknown = words.find((word) => !ENTRY_STATES.some((state) => state === word));
  const all = ENTRY_STATES.join(', ');
  if (unknown !== undefined) throw new UsageError(t`There is no state ${unknown}. The states are: ${all}.`);
  return ENTRY_STATES.filter((state) => words.includes(state));
}

function parseElementFilter(filter: string) {
  const setting = parseSetting(filter);
  if ('rule' in setting) throw new UsageError(setting.message);
  if (!isElementName(setting.name)) throw new UsageError(t`Finds cannot be selected by ${setting.givenName}.`);
  return [setting.name, setting.value] as const;
}

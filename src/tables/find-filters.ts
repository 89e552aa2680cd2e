import { makeIdKey } from '../base/characters.ts';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import { foldName } from '../base/names.ts';
import { isElementName } from '../finds/fields.ts';
import { isRealDate } from '../finds/parse-cell.ts';
import { ENTRY_STATES } from '../outbox/entry.ts';
import { listLabelledElements } from '../outbox/views/entry-words.ts';
import type { FindFilter } from '../outbox/views/records-at-service.ts';
import { parseSettingText } from './columns/settings.ts';

/**
 * Filters of finds that are not elements. A find without an import has no state; one without a
 * valid date matches neither `since` nor `until`, whose days are included.
 */
const FILTERS = new Map<string, (value: string) => FindFilter>([
  [
    'state',
    (value) => {
      const states = parseStates(value);
      return (_, imported) => imported !== undefined && states.includes(imported.state);
    },
  ],
  [
    'since',
    (value) => {
      const day = parseDay(value);
      return ({ elements: { datum_nalezu: found = '' } }) => String(found) >= day;
    },
  ],
  [
    'until',
    (value) => {
      const day = parseDay(value);
      return ({ elements: { datum_nalezu: found } }) => found !== undefined && String(found) <= day;
    },
  ],
  [
    'text',
    (value) => {
      const sought = foldName(value);
      return ({ localId, elements }, imported) => {
        const labelled = listLabelledElements(elements);
        const texts = [localId, imported?.identCely ?? '', ...labelled.map(([, text]) => text)];
        return foldName(texts.join(' ')).includes(sought);
      };
    },
  ],
]);

/**
 * Parses the texts of `--where`, each an element or a further filter with its value:
 * `obdobi=HES-1`, `state=draft, queued`, `since=2024-05-01`. A find must match all of them; without
 * texts there are no filters.
 * @throws UsageError for a text of another form, and for an unknown element, state or day
 */
export function parseFindFilters(texts: readonly string[] = []): readonly FindFilter[] {
  return texts.map(parseFindFilter);
}

function parseFindFilter(text: string): FindFilter {
  const [, name = '', value = ''] = /^\s*(\w+)\s*=(.*)$/s.exec(text) ?? [];
  return FILTERS.get(name)?.(value.trim()) ?? parseElementFilter(text);
}

/**
 * Matches the whole identifier, label or text, without regard to case and accents; an empty value
 * matches finds without the element.
 */
function parseElementFilter(text: string): FindFilter {
  const setting = parseSettingText(text);
  if ('rule' in setting) throw new UsageError(setting.message);
  const { name, value } = setting;
  if (!isElementName(name))
    throw new UsageError(t`Finds cannot be selected by ${setting.givenName}.`);
  return ({ elements }) => {
    const found = elements[name];
    if (typeof found !== 'object') return foldName(found?.toString() ?? '') === foldName(value);
    return makeIdKey(found.id) === makeIdKey(value) || foldName(found.text) === foldName(value);
  };
}

function parseStates(text: string) {
  const words = text.split(/[\s,]+/);
  const unknown = words.find((word) => !ENTRY_STATES.some((state) => state === word));
  const all = ENTRY_STATES.join(', ');
  if (unknown !== undefined)
    throw new UsageError(t`There is no state ${unknown}. The states are: ${all}.`);
  return ENTRY_STATES.filter((state) => words.includes(state));
}

function parseDay(text: string): string {
  if (!isRealDate(text)) throw new UsageError(t`"${text}" is not a date. Write it as YYYY-MM-DD.`);
  return text;
}

import { InterruptedError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { isDateForm } from '../../columns/apply-column-rule.ts';
import {
  type ColumnRule,
  DEPTH_UNITS,
  type DepthUnit,
  JOINED,
  LABELLED,
  OPEN_UNIT,
  type ReadColumn,
} from '../../columns/column-rule.ts';
import {
  type ColumnProposal,
  isOpen,
  listUnresolvedColumns,
  type TableProposal,
} from '../../columns/propose-columns.ts';
import {
  COLUMN_NAMES,
  type ColumnName,
  FIELDS,
  findColumnMeant,
  getField,
  isElementName,
} from '../../find/fields.ts';
import { NAME_ORDERS } from '../../find/person-name.ts';
import { ANGLE_PARTS } from '../../place/read-position.ts';
import { choose, type Prompt, type PromptOffer } from '../../ui/prompt.ts';
import { checkFixedValues, type PreviewedTable } from '../queue/table-columns.ts';
import type { OfferTerms } from './offer-terms.ts';
import {
  formatColumnRule,
  formatNameOrder,
  getGloss,
  PART_WORDS,
  previewLines,
} from './table-texts.ts';

type AskingWorld = {
  readonly lookupTerm: PreviewedTable['lookupTerm'];
  readonly preview: PreviewedTable['preview'];
  readonly prompt: Prompt;
  readonly say: (lines: readonly string[]) => void;
  readonly offerTerms: OfferTerms;
};

export type Decision = { readonly proposal: TableProposal; readonly importNow: boolean };

type Choice =
  | { readonly kind: 'go-on' | 'stop' }
  | { readonly kind: 'column'; readonly index: number }
  | { readonly kind: 'fixed' };

/**
 * Lets a person edit the proposals.
 * @throws InterruptedError where the person stops; then nothing is written
 */
export async function askAboutTable(
  proposed: TableProposal,
  world: AskingWorld,
): Promise<Decision> {
  const { prompt, say, preview } = world;
  let proposal = proposed;
  for (;;) {
    proposal = await changeColumns(proposal, world);
    proposal = await settleUnits(proposal, world);
    for (const element of proposal.undecided) proposal = await askFixed(proposal, element, world);
    say(['', ...previewLines(preview(proposal)), '']);
    const decided = await choose<'write' | 'import' | 'change'>(prompt, t`Continue?`, [
      { value: 'write', name: t`Write the column map` },
      { value: 'import', name: t`Write the column map and import now` },
      { value: 'change', name: t`Change something` },
    ]);
    if (decided !== 'change') return { proposal, importNow: decided === 'import' };
  }
}

async function changeColumns(begun: TableProposal, world: AskingWorld): Promise<TableProposal> {
  const { prompt } = world;
  let proposal = begun;
  for (;;) {
    const choice = await choose<Choice>(prompt, t`Accept all, or change a column`, [
      { value: { kind: 'go-on' }, name: t`Accept all` },
      ...proposal.columns.map(({ profile, rule }, index) => ({
        value: { kind: 'column', index } as const,
        name: `${profile.key} → ${formatColumnRule(rule)}`,
      })),
      { value: { kind: 'fixed' }, name: t`A value for every find` },
      { value: { kind: 'stop' }, name: t`Stop; nothing is written` },
    ]);
    switch (choice.kind) {
      case 'go-on':
        return proposal;
      case 'stop':
        throw new InterruptedError(t`Stopped. Nothing was written.`);
      case 'fixed':
        proposal = await askFixed(proposal, await askElement(prompt), world);
        break;
      case 'column':
        proposal = await changeColumn(proposal, choice.index, world);
        break;
    }
  }
}

/** Asks the unit of each column whose numbers do not show it. */
async function settleUnits(
  proposal: TableProposal,
  { prompt, say }: AskingWorld,
): Promise<TableProposal> {
  const columns: ColumnProposal[] = [];
  for (const column of proposal.columns) {
    if (!isOpen(column)) {
      columns.push(column);
      continue;
    }
    const { profile, rule, doubt } = column;
    say([`? ${profile.key}: ${doubt ?? ''}`]);
    columns.push({
      profile,
      rule: { ...rule, unit: await askUnit(prompt) } as ReadColumn,
      reasons: [t`chosen by a person`],
    });
  }
  return { ...proposal, columns };
}

function askUnit(prompt: Prompt, first?: DepthUnit): Promise<DepthUnit> {
  const units =
    first === undefined ? DEPTH_UNITS : [first, ...DEPTH_UNITS.filter((unit) => unit !== first)];
  return choose(
    prompt,
    t`Measured in`,
    units.map((value) => ({ value, name: value })),
  );
}

async function changeColumn(
  proposal: TableProposal,
  index: number,
  { prompt, say }: AskingWorld,
): Promise<TableProposal> {
  const column = proposal.columns[index];
  if (column === undefined) return proposal;
  const { key } = column.profile;
  const element = await choose<ColumnName | 'ignore'>(prompt, t`What is "${key}"?`, [
    { value: 'ignore', name: t`Leave it out` },
    ...listElementOffers(),
  ]);
  const rule: ColumnRule =
    element === 'ignore'
      ? { kind: 'ignored' }
      : await askDetails(prompt, column, element, proposal);
  const columns = proposal.columns.map((other, place): ColumnProposal => {
    if (place === index) return { profile: other.profile, rule, reasons: [t`chosen by a person`] };
    if (!isReplaced(other.rule, rule)) return other;
    const theirs = other.profile.key;
    say([t`"${theirs}" was ${element} before and is now ignored.`]);
    return {
      profile: other.profile,
      rule: { kind: 'ignored' },
      reasons: [t`"${key}" was chosen instead`],
    };
  });
  return {
    ...proposal,
    columns,
    undecided: listUnresolvedColumns(columns, proposal.fixed, proposal.hasPoints),
  };
}

/** Tells if the new choice for a column replaces another column's meaning. */
function isReplaced(other: ColumnRule, chosen: ColumnRule): boolean {
  if (other.kind === 'ignored' || chosen.kind === 'ignored' || other.element !== chosen.element)
    return false;
  const areParts =
    other.part !== undefined && chosen.part !== undefined && other.part !== chosen.part;
  return !areParts && !JOINED.includes(other.element);
}

function listElementOffers(): PromptOffer<ColumnName>[] {
  const names = [
    ...new Set(
      COLUMN_NAMES.map((name) => findColumnMeant(name)).filter((name) => name !== undefined),
    ),
  ];
  return names.map((name) => {
    const gloss = getGloss(name);
    const alias = FIELDS.find((field) => field.name === name)?.alias;
    return {
      value: name,
      name: gloss === name ? name : `${name} – ${gloss}${alias === undefined ? '' : ` (${alias})`}`,
      short: name,
    };
  });
}

async function askDetails(
  prompt: Prompt,
  { profile, rule: before }: ColumnProposal,
  element: ColumnName,
  proposal: TableProposal,
): Promise<ReadColumn> {
  const was = before.kind === 'read' && before.element === element ? before : undefined;
  switch (element) {
    case 'hloubka':
      return {
        kind: 'read',
        element,
        unit: await askUnit(prompt, was?.unit === OPEN_UNIT ? undefined : was?.unit),
      };
    case 'datum_nalezu': {
      const date = await prompt.askText({
        message: t`Format of the dates (d, m, yyyy)`,
        fallback: was?.date ?? 'd.m.yyyy',
        findProblem: async (text) =>
          isDateForm(text.trim())
            ? undefined
            : t`Write d, m and yyyy as they are in the table, such as d.m.yyyy.`,
      });
      return { kind: 'read', element, date: date.trim(), yearOnly: 'note' };
    }
    case 'nalezce': {
      const name = await choose(
        prompt,
        t`How names of people are written`,
        NAME_ORDERS.map((value) => ({ value, name: formatNameOrder(value) })),
      );
      return { kind: 'read', element, name };
    }
    case 'geom_x':
    case 'geom_y': {
      const lacks = await prompt.confirm(
        t`Is the minus sign of S-JTSK missing?`,
        was?.sign === 'minus',
      );
      return { kind: 'read', element, sign: lacks ? 'minus' : undefined };
    }
    case 'lon':
    case 'lat': {
      const parts = [undefined, ...ANGLE_PARTS].map((part) => ({
        value: part,
        name: part === undefined ? t`the whole coordinate` : String(PART_WORDS[part]),
      }));
      const first = parts.filter(({ value }) => value === was?.part);
      const part = await choose(prompt, t`What does the column contain?`, [
        ...first,
        ...parts.filter((each) => !first.includes(each)),
      ]);
      return { kind: 'read', element, part };
    }
    case 'wkt':
      return { kind: 'read', element, form: 'position' };
    default: {
      const hasOtherColumns = proposal.columns.some(
        (other) =>
          other.profile.index !== profile.index &&
          other.rule.kind === 'read' &&
          other.rule.element === element,
      );
      return {
        ...(was ?? { kind: 'read', element }),
        ...(hasOtherColumns && LABELLED.includes(element) ? { label: profile.header } : {}),
      };
    }
  }
}

async function askElement(prompt: Prompt): Promise<ColumnName> {
  const offers = listElementOffers().filter(
    ({ value }) => isElementName(value) && getField(value).kind !== 'point',
  );
  return choose(prompt, t`Which element?`, offers);
}

/** Asks for one value for all finds; an empty answer removes it. */
async function askFixed(
  proposal: TableProposal,
  element: ColumnName,
  world: AskingWorld,
): Promise<TableProposal> {
  const { prompt, offerTerms, lookupTerm } = world;
  const gloss = getGloss(element);
  const field = isElementName(element) ? getField(element) : undefined;
  const before = proposal.fixed.find((each) => each.element === element)?.text;
  const message = t`${element} of every find (${gloss})`;
  const findProblem = (text: string): string | undefined =>
    text.trim() === ''
      ? undefined
      : checkFixedValues([{ name: element, givenName: element, value: text.trim() }], lookupTerm)[0]
          ?.message;
  let text: string;
  if (field !== undefined && (field.kind === 'term' || field.kind === 'reference')) {
    const later = { value: '', name: t`leave it for later` };
    const listOffers = (typed: string) => [
      ...(typed.trim() === '' && before === undefined ? [later] : []),
      ...offerTerms(field.name, typed),
    ];
    text = await prompt.search({ message, listOffers });
    for (let problem = findProblem(text); problem !== undefined; problem = findProblem(text)) {
      world.say([problem]);
      text = await prompt.search({ message, listOffers });
    }
  } else {
    text = await prompt.askText({
      message,
      fallback: before,
      findProblem: async (text) => findProblem(text),
    });
  }
  const value = text.trim();
  const otherFixed = proposal.fixed.filter((each) => each.element !== element);
  if (value === '') return { ...proposal, fixed: otherFixed };
  return {
    ...proposal,
    fixed: [...otherFixed, { element, text: value, reasons: [t`chosen by a person`] }],
    undecided: proposal.undecided.filter((name) => name !== element),
  };
}

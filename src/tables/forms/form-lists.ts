import { UsageError } from '../../base/errors.ts';
import { cmd, type Message, msg, t } from '../../base/message.ts';
import {
  type ElementName,
  FIELDS,
  type FindElements,
  formatReferenceCell,
} from '../../finds/fields.ts';
import { FORM_LABEL_GAP, hasWrittenQuestion } from '../../finds/questions.ts';
import { MAX_NAME_LENGTH } from '../../finds/resolve-references.ts';
import { canProjectTakeFinds, HANDOVER_REQUIRED } from '../../finds/rules.ts';
import { MAX_DEPTH_CM, MAX_NUMBER_CHARACTERS, type RuleContext } from '../../finds/value-rules.ts';
import type { Term, Vocabulary } from '../../finds/vocabulary/term.ts';
import { isSetHarvested, listTermsOfSet } from '../../finds/vocabulary/terms.ts';

/** A choice of a list: identifier and label of an entry. */
export type FormChoice = { readonly name: string; readonly label: string };

/** The choices of each element that has a list, by its name. */
export type FormLists = ReadonlyMap<string, readonly FormChoice[]>;

/** A set, and the element with the same name. */
const PROJECT_SET = 'projekt';

/**
 * Makes the list of choices for each element of a find that has a vocabulary: its harvested terms
 * that are not deleted. The project is listed only where survey projects were harvested into which
 * the account may import; otherwise it has no list, and is typed.
 * @param rules with the data of the account, by which projects are left out
 * @throws UsageError that names all vocabularies that were not harvested
 */
export function makeFormLists(vocabulary: Vocabulary, rules: RuleContext): FormLists {
  const listed = FIELDS.flatMap(({ name, set }) => (set === undefined ? [] : [{ name, set }]));
  const lacking = listed
    .filter(({ set }) => !isSetHarvested(vocabulary, set))
    .map(({ set }) => set);
  if (lacking.length > 0) {
    const sets = lacking.join(', ');
    throw new UsageError(t`The form needs vocabularies that were not harvested yet: ${sets}.`, {
      hint: t`Run \`${cmd`pas harvest-vocab`}\` while you are online.`,
    });
  }
  const lists = new Map(
    listed.map(({ name, set }) => [
      name as string,
      listTermsOfSet(vocabulary, set).map(makeFormChoice),
    ]),
  );
  const projects = listOpenProjects(vocabulary, rules);
  if (projects.length > 0) lists.set(PROJECT_SET, projects);
  return lists;
}

/** Lists survey projects into which the account may import, as far as that is known. */
function listOpenProjects(vocabulary: Vocabulary, rules: RuleContext): FormChoice[] {
  return listTermsOfSet(vocabulary, PROJECT_SET)
    .filter(({ ident, details }) => details.survey === true && canProjectTakeFinds(ident, rules))
    .map(makeFormChoice);
}

/**
 * Returns one text for both languages; a project, which has no name, is shown with its district.
 */
function makeFormChoice({ ident, label, labelEn, details }: Term): FormChoice {
  const more = details.survey === undefined ? labelEn : details.facts?.['okres'];
  return {
    name: ident,
    label: more == null || more === label ? label : `${label}${FORM_LABEL_GAP}${more}`,
  };
}

/** Where a form is written, and the data that it is made from. */
export type FieldFormOrder = {
  /** File or folder that the user named. */
  readonly destination: string;
  readonly overwrite: boolean;
  readonly vocabulary: Vocabulary;
  readonly rules: RuleContext;
  readonly nowMs: number;
};

/** An order with the finds' defaults as elements. */
export type FieldFormRequest = FieldFormOrder & {
  /** Defaults of every find. */
  readonly starting: FindElements;
};

/**
 * Defaults of every find by element, as a form stores them: `written` has those that are typed
 * since the list of their element lacks them, `chosen` all others.
 */
export type FormDefaults = {
  readonly chosen: ReadonlyMap<string, string>;
  readonly written: ReadonlyMap<string, string>;
};

/**
 * Makes the defaults of a form from those of the request. A default that the list of its element
 * lacks becomes a typed one where the element may be typed, and is left out otherwise.
 */
export function makeFormDefaults({ starting }: FieldFormRequest, lists: FormLists): FormDefaults {
  const chosen = new Map<string, string>();
  const written = new Map<string, string>();
  for (const { name } of FIELDS) {
    const value = starting[name];
    if (value === undefined) continue;
    const text = typeof value === 'object' ? formatReferenceCell(value) : String(value);
    const isListed = lists.get(name)?.some((choice) => choice.name === text) !== false;
    if (isListed) chosen.set(name, text);
    else if (hasWrittenQuestion(name)) written.set(name, text);
  }
  return { chosen, written };
}

/** Writes a form; returns the files that must be copied to the phone, the form first. */
export type FieldFormWriter = (request: FieldFormRequest) => Promise<readonly string[]>;

/** Texts of the rules that a phone can evaluate; each program has its own expressions for them. */
export const CONSTRAINT_TEXTS: Readonly<Partial<Record<ElementName, Message>>> = {
  hloubka: msg`Depth is in whole centimetres below the surface, 0 to ${MAX_DEPTH_CM}.`,
  datum_nalezu: msg`The date is in the future or very long ago.`,
  evidencni_cislo: msg`A registration number has at most ${MAX_NUMBER_CHARACTERS} characters.`,
  predano: HANDOVER_REQUIRED,
  nalezce: msg`Write the surname, a comma and the given name: Novák, Jan.`,
  projekt: msg`Write the identifier alone, such as C-202400101.`,
};

const NAME_PART = `[^,;]{1,${MAX_NAME_LENGTH}}`;

/** Regular expression of `Surname, Given name`, for ODK and QGIS. */
export const NAME_PATTERN = `^${NAME_PART}, *${NAME_PART}$`;

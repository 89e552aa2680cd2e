import { t } from '../../base/message.ts';
import {
  type ElementName,
  FIELDS,
  type Field,
  getElementLabel,
  type TargetState,
} from '../../finds/fields.ts';
import { formatRecordState } from '../../finds/harvested-find.ts';
import { EARLIEST_YEAR } from '../../finds/parse-cell.ts';
import {
  FORM_WRITTEN,
  getFormLabel,
  hasWrittenQuestion,
  type TypableElement,
} from '../../finds/questions.ts';
import { MAX_DEPTH_CM, MAX_NUMBER_CHARACTERS } from '../../finds/value-rules.ts';
import {
  type Constraint,
  type FormTab,
  getGpkgColumnType,
  type LayerColumn,
  type Widget,
} from '../exports/gpkg-layers.ts';
import { CONSTRAINT_TEXTS, type FormDefaults, type FormLists, NAME_PATTERN } from './form-lists.ts';

/** The file beside the project with a layer for the choices of each listed element. */
export const LISTS_FILE = 'lists.gpkg';

/** Returns the name of the layer, which is also its table, with the choices of an element. */
export function getListLayerName(element: string): string {
  return `list_${element}`;
}

/** Sources of the form of finds: vocabularies, defaults, and the account. */
export type FormContent = FormDefaults & {
  readonly lists: FormLists;
  /** States into which the account may import. */
  readonly states: readonly TargetState[];
};

/**
 * Returns the id that the layer of a table has in the project; it is longer than the name of the
 * table, since QGIS replaces an id of ten characters or less.
 */
export function getLayerId(table: string): string {
  return `pas_layer_${table}`;
}

/** Id of the relation by which a find has its photographs. */
export const PHOTO_RELATION = 'photos_of_find';

/**
 * Makes the columns of the layer of finds, each with its editor, default and constraint: the local
 * id, then the elements in the order of FIELDS. The point has no column, since it is the geometry
 * of the layer. An element whose list may lack a value has a second column, in which it is typed.
 */
export function makeFindLayerColumns(content: FormContent): readonly LayerColumn[] {
  const key: LayerColumn = {
    name: 'local_id',
    type: 'text',
    label: t`Key of the find`,
    widget: TEXT,
    // Without the braces of QGIS's uuid().
    initially: 'substr(uuid(), 2, 36)',
    mustBeFilled: true,
    mustBeUnique: true,
    isFixed: true,
  };
  return [
    key,
    ...FIELDS.filter(({ kind }) => kind !== 'point').flatMap((field) =>
      makeElementColumns(field, content),
    ),
  ];
}

/** Makes the column of an element, and the one for a typed value where that is allowed. */
function makeElementColumns(field: Field, content: FormContent): LayerColumn[] {
  const { name } = field;
  const label = getElementLabel(field);
  // A value outside its list may be typed.
  const isAlsoWritten = hasWrittenQuestion(name) && content.lists.has(name);
  const ownField: LayerColumn = {
    name,
    type: getGpkgColumnType(name),
    label,
    widget: makeWidget(field, content),
    mustBeFilled: field.requiredFrom === 1 && !isAlsoWritten,
    initially: getInitialExpression(field, content),
    constraint: makeConstraint(field, isAlsoWritten),
    isFixed: field.kind === 'geom-system',
    staysForNext: field.ask?.when === 'frame' && name !== 'datum_nalezu',
  };
  if (!isAlsoWritten) return [ownField];
  const value = content.written.get(name);
  const initially = value === undefined ? undefined : quoteQgisText(value);
  return [ownField, { ...makeWrittenColumn(name), initially }];
}

const TEXT: Widget = { kind: 'TextEdit', settings: { IsMultiline: false, UseHtml: false } };

function makeWidget(field: Field, { lists, states }: FormContent): Widget {
  switch (field.kind) {
    case 'term':
    case 'reference':
      return lists.has(field.name) ? makeChoice(getListLayerName(field.name)) : TEXT;
    case 'integer':
      return {
        kind: 'Range',
        settings: {
          Min: 0,
          Max: MAX_DEPTH_CM,
          Step: 1,
          AllowNull: true,
          Style: 'SpinBox',
          Suffix: ` ${field.unit ?? ''}`,
        },
      };
    case 'date':
      return {
        kind: 'DateTime',
        settings: {
          allow_null: true,
          calendar_popup: true,
          display_format: 'd. M. yyyy',
          field_format: 'yyyy-MM-dd',
        },
      };
    case 'boolean':
      return { kind: 'CheckBox', settings: { CheckedState: '', UncheckedState: '' } };
    case 'state':
      return makeValueMap(states.map((state) => [formatRecordState(state), String(state)]));
    case 'geom-system':
      return TEXT;
    case 'text':
    case 'point':
      return {
        kind: 'TextEdit',
        settings: {
          ...TEXT.settings,
          IsMultiline: field.shape !== undefined,
        },
      };
  }
}

function makeValueMap(choices: readonly (readonly [label: string, value: string])[]): Widget {
  return {
    kind: 'ValueMap',
    settings: { map: choices.map(([label, value]) => ({ [label]: value })) },
  };
}

function makeChoice(layer: string): Widget {
  return {
    kind: 'ValueRelation',
    settings: {
      Layer: getLayerId(layer),
      LayerName: layer,
      LayerProviderName: 'ogr',
      LayerSource: `./${LISTS_FILE}|layername=${layer}`,
      Key: 'id',
      Value: 'label',
      FilterExpression: '',
      Description: '',
      AllowNull: true,
      AllowMulti: false,
      NofColumns: 1,
      OrderByValue: true,
      UseCompleter: true,
    },
  };
}

function getInitialExpression({ name, kind }: Field, { chosen }: FormContent): string | undefined {
  if (kind === 'date') return 'to_date(now())';
  if (kind === 'geom-system') return quoteQgisText('4326');
  const value = chosen.get(name);
  if (value === undefined) return undefined;
  return kind === 'integer' || kind === 'state' || kind === 'boolean'
    ? value
    : quoteQgisText(value);
}

/**
 * Quotes a text in an expression of QGIS, and escapes the quotes, backslashes and line breaks in
 * it.
 */
function quoteQgisText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`;
}

/**
 * Makes the constraint by which QGIS checks an element as `pas validate` does (A-FIELD-3,
 * A-VALUE-3); undefined where the element has none.
 * @param written a typed value may stand for the chosen one
 */
function makeConstraint(
  { name, kind, requiredFrom = 1, gloss }: Field,
  written: boolean,
): Constraint | undefined {
  if (kind === 'geom-system') {
    return {
      expression: '"stav" < 2 or $geometry is not null',
      description: t`A find for state 2 needs a point. Draw it, or choose state 1.`,
    };
  }
  const state = requiredFrom;
  const lower = requiredFrom - 1;
  const present =
    written && hasWrittenQuestion(name)
      ? `(${makeFilledTest(name)} or ${makeFilledTest(FORM_WRITTEN[name])})`
      : makeFilledTest(name);
  const parts: Constraint[] = [];
  if (state > 1)
    parts.push({
      expression: `("stav" < ${state} or ${present})`,
      description: t`A find for state ${state} needs ${name} (${gloss}). Fill it in, or choose state ${lower}.`,
    });
  else if (written)
    parts.push({
      expression: present,
      description: t`Every find needs ${name} (${gloss}). Fill it in.`,
    });
  const ownConstraint = OWN_CONSTRAINTS[name];
  if (ownConstraint !== undefined)
    parts.push({
      expression: `("${name}" is null or ${ownConstraint})`,
      description: getConstraintText(name),
    });
  if (parts.length === 0) return undefined;
  return {
    // A comparison with null is null, which counts as false.
    expression: `coalesce(${parts.map(({ expression }) => expression).join(' and ')}, false)`,
    description: parts.map(({ description }) => description).join(' '),
  };
}

/** Constraints of the value itself; absent values are checked by another one. */
const OWN_CONSTRAINTS: Readonly<Partial<Record<ElementName, string>>> = {
  hloubka: `"hloubka" >= 0 and "hloubka" <= ${MAX_DEPTH_CM}`,
  datum_nalezu: `"datum_nalezu" <= to_date(now()) and "datum_nalezu" >= to_date('${EARLIEST_YEAR}-01-01')`,
  evidencni_cislo: `length("evidencni_cislo") <= ${MAX_NUMBER_CHARACTERS}`,
  predano: '"stav" < 3 or "predano"',
};

function getConstraintText(name: ElementName): string {
  return String(CONSTRAINT_TEXTS[name] ?? '');
}

function makeFilledTest(name: string): string {
  return `trim(coalesce("${name}", '')) <> ''`;
}

function makeWrittenColumn(name: TypableElement): LayerColumn {
  const column = FORM_WRITTEN[name];
  const pattern = name === 'nalezce' ? NAME_PATTERN : '^[^ ,;]+$';
  return {
    name: column,
    type: 'text',
    widget: TEXT,
    staysForNext: true,
    label: String(getFormLabel(column)),
    constraint: {
      expression: `not ${makeFilledTest(column)} or (regexp_match("${column}", '${pattern}') > 0 and not ${makeFilledTest(name)})`,
      description: [getConstraintText(name), t`Clear what is chosen from the list.`].join(' '),
    },
  };
}

/**
 * Makes the tabs of the form of finds, in the order of recording: object, photographs, day, further
 * data, handing over.
 * @param columns of the layer; elements without one are left out of the tabs
 */
export function makeFormTabs(columns: readonly LayerColumn[]): readonly FormTab[] {
  const listColumns = (when: 'find' | 'frame' | 'handing-over' | 'more'): string[] =>
    FIELDS.filter(
      ({ kind, ask }) =>
        kind !== 'point' && kind !== 'geom-system' && (ask?.when ?? 'more') === when,
    )
      .toSorted((a, b) => (a.ask?.at ?? 1000) - (b.ask?.at ?? 1000))
      .flatMap(({ name }) => [name, ...(hasWrittenQuestion(name) ? [FORM_WRITTEN[name]] : [])])
      .filter((name) => columns.some((column) => column.name === name));
  return [
    { tab: t`Find`, columns: listColumns('find') },
    { tab: t`Photographs`, columns: [], relation: PHOTO_RELATION },
    { tab: t`Day`, columns: listColumns('frame') },
    { tab: t`More`, columns: [...listColumns('more'), 'geom_system', 'local_id'] },
    { tab: t`Handing over`, shownIf: '"stav" = 3', columns: listColumns('handing-over') },
  ];
}

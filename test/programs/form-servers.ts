import { JSDOM, type JsdomDocument, type JsdomElement } from 'jsdom';
import { makeWorkbook, type WorkbookCell } from '../support/make-workbook.ts';
import { makeZip, type ZipPart } from '../support/make-zip.ts';
import type { Submission } from './filled-forms.ts';

/**
 * Exports of submitted forms, made from the form's own definition and the submissions' own XML: ODK
 * Central as its source has it (lib/data/briefcase.js), KoboToolbox as its exports look.
 */

type Field = {
  readonly name: string;
  readonly path: string;
  readonly kind: 'group' | 'repeat' | 'geopoint' | 'value';
  readonly fields: readonly Field[];
};

type Sent = Submission & {
  /** Its name on the server, where that is not the submission's own. */
  readonly rootId?: string;
  readonly review?: string;
};

function parse(xml: string): JsdomDocument {
  return new JSDOM(xml, { contentType: 'text/xml' }).window.document;
}

/** The fields of a form, from its primary instance, its binds and its repeats. */
function listFields(form: string): readonly Field[] {
  const document = parse(form);
  const types = new Map(
    [...document.querySelectorAll('bind')].map((bind) => [
      bind.getAttribute('nodeset'),
      bind.getAttribute('type'),
    ]),
  );
  const repeats = new Set(
    [...document.querySelectorAll('repeat')].map((repeat) => repeat.getAttribute('nodeset')),
  );
  const root = document.querySelector('instance > *');
  const walk = (parent: JsdomElement, at: string): Field[] => {
    const seen = new Set<string>();
    return [...parent.children].flatMap((child): Field[] => {
      const path = `${at}/${child.localName}`;
      if (seen.has(path)) return [];
      seen.add(path);
      const kind = repeats.has(path)
        ? 'repeat'
        : child.children.length > 0
          ? 'group'
          : types.get(path) === 'geopoint'
            ? 'geopoint'
            : 'value';
      return [{ name: child.localName, path, kind, fields: walk(child, path) }];
    });
  };
  return root === null ? [] : walk(root, `/${root.localName}`);
}

type Row = Map<string, string>;

type Tables = { readonly main: Row[]; readonly repeats: Map<string, Row[]> };

const POINT_PARTS = ['Latitude', 'Longitude', 'Altitude', 'Accuracy'];

function childrenCalled(parent: JsdomElement, name: string): JsdomElement[] {
  return [...parent.children].filter((child) => child.localName === name);
}

export type CentralOptions = { readonly media?: boolean };

/** The archive that Central's "Download submissions (.zip)" gives, by its parts. */
export function centralParts(
  form: string,
  submissions: readonly Sent[],
  { media = true }: CentralOptions = {},
): ZipPart[] {
  const fields = listFields(form);
  const formId = parse(form).querySelector('instance > *')?.getAttribute('id') ?? '';
  const header = (of: readonly Field[], path: readonly string[] = []): string[] =>
    of.flatMap((field) => {
      if (field.kind === 'repeat') return [];
      if (field.kind === 'group') return header(field.fields, [...path, field.name]);
      const name = [...path, field.name].join('-');
      return field.kind === 'geopoint' ? POINT_PARTS.map((part) => `${name}-${part}`) : [name];
    });
  const tables: Tables = { main: [], repeats: new Map() };
  const fill = (
    element: JsdomElement,
    of: readonly Field[],
    path: readonly string[],
    row: Row,
    key: string,
  ): void => {
    for (const field of of) {
      const name = [...path, field.name].join('-');
      const found = childrenCalled(element, field.name);
      if (field.kind === 'repeat') {
        const rows = tables.repeats.get(field.name) ?? [];
        tables.repeats.set(field.name, rows);
        found.forEach((each, index) => {
          const part: Row = new Map([
            ['PARENT_KEY', key],
            ['KEY', `${key}/${[...path, field.name].join('/')}[${index + 1}]`],
          ]);
          fill(each, field.fields, [], part, key);
          rows.push(part);
        });
      } else if (field.kind === 'group')
        for (const each of found) fill(each, field.fields, [...path, field.name], row, key);
      else if (field.kind === 'geopoint') {
        const parts = (found[0]?.textContent ?? '').split(/\s+/);
        for (const [index, part] of POINT_PARTS.entries())
          row.set(`${name}-${part}`, parts[index] ?? '');
      } else row.set(name, found[0]?.textContent ?? '');
    }
  };
  const about = [
    'SubmitterID',
    'SubmitterName',
    'AttachmentsPresent',
    'AttachmentsExpected',
    'Status',
    'ReviewState',
    'DeviceID',
    'Edits',
    'FormVersion',
  ];
  for (const { xml, files, rootId, review = '' } of submissions) {
    const root = parse(xml).documentElement;
    const key = rootId ?? root.querySelector('instanceID')?.textContent ?? '';
    const row: Row = new Map([
      ['SubmissionDate', '2024-06-02T18:30:00.000Z'],
      ['KEY', key],
      ['SubmitterID', '12'],
      ['SubmitterName', 'Telefon 1'],
      ['AttachmentsPresent', String(files.size)],
      ['AttachmentsExpected', String(files.size)],
      ['ReviewState', review],
      ['DeviceID', 'collect:abc'],
      ['Edits', rootId === undefined ? '0' : '1'],
      ['FormVersion', root.getAttribute('version') ?? ''],
    ]);
    fill(root, fields, [], row, key);
    tables.main.push(row);
  }
  const repeatFields = (of: readonly Field[]): Field[] =>
    of.flatMap((field) => [
      ...(field.kind === 'repeat' ? [field] : []),
      ...repeatFields(field.fields),
    ]);
  return [
    {
      name: `${formId}.csv`,
      content: csv(['SubmissionDate', ...header(fields), 'KEY', ...about], tables.main),
    },
    ...repeatFields(fields).map((field) => ({
      name: `${formId}-${field.name}.csv`,
      content: csv(
        [...header(field.fields), 'PARENT_KEY', 'KEY'],
        tables.repeats.get(field.name) ?? [],
      ),
    })),
    ...(media
      ? submissions.flatMap(({ files }) =>
          [...files].map(([name, content]) => ({ name: `media/${name}`, content })),
        )
      : []),
  ];
}

export function centralExport(
  form: string,
  submissions: readonly Sent[],
  options?: CentralOptions,
): Buffer {
  return makeZip(centralParts(form, submissions, options));
}

function csv(header: readonly string[], rows: readonly Row[]): string {
  const quoted = (text: string): string =>
    /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return `${[header, ...rows.map((row) => header.map((name) => row.get(name) ?? ''))].map((cells) => cells.map(quoted).join(',')).join('\n')}\n`;
}

export type KoboOptions = {
  /** Names of the columns: names as in the form, or labels of one language. */
  readonly labels?: 'cs' | 'en';
  /** Groups before the names of the questions. */
  readonly groups?: boolean;
};

export type KoboSheets = {
  readonly name: string;
  readonly rows: readonly (readonly WorkbookCell[])[];
}[];

/** The sheets of an export of KoboToolbox (XLS): the forms, and one for each repeated group. */
export function koboSheets(
  form: string,
  submissions: readonly Sent[],
  { labels, groups = false }: KoboOptions = {},
): KoboSheets {
  const fields = listFields(form);
  const document = parse(form);
  const language = labels === 'cs' ? 'Čeština (cs)' : 'English (en)';
  const texts = new Map(
    [...document.querySelectorAll('translation')]
      .filter((translation) => translation.getAttribute('lang') === language)
      .flatMap((translation) =>
        [...translation.querySelectorAll('text')].map((text) => [
          text.getAttribute('id'),
          text.textContent?.trim() ?? '',
        ]),
      ),
  );
  const itemsets = new Map(
    [...document.querySelectorAll('instance[id] > root > item')].map((item) => [
      `${item.closest('instance')?.id} ${item.querySelector('name')?.textContent}`,
      texts.get(item.querySelector('itextId')?.textContent ?? '') ?? '',
    ]),
  );
  const listByName = new Map(
    [...document.querySelectorAll('select1')].map((select) => [
      select.getAttribute('ref'),
      /instance\('([^']+)'\)/.exec(
        select.querySelector('itemset')?.getAttribute('nodeset') ?? '',
      )?.[1],
    ]),
  );
  const getTitle = ({ name, path }: Field): string =>
    labels === undefined ? name : (texts.get(`${path}:label`) ?? name);
  const getColumns = (
    of: readonly Field[],
    before: string,
    start: string,
  ): { header: string; field: Field; path: string; part?: number }[] =>
    of.flatMap((field) => {
      if (field.kind === 'repeat' || field.name === 'meta') return [];
      const title = getTitle(field);
      if (field.kind === 'group')
        return getColumns(field.fields, groups ? `${before}${title}/` : before, start);
      const column = {
        header: `${before}${title}`,
        field,
        path: field.path.slice(start.length + 1),
      };
      if (field.kind !== 'geopoint') return [column];
      const parts = ['latitude', 'longitude', 'altitude', 'precision'].map((part, index) => ({
        ...column,
        header: `_${before}${title}_${part}`,
        part: index,
      }));
      return [column, ...parts];
    });
  const textAt = (root: JsdomElement, path: string): string =>
    path
      .split('/')
      .reduce<JsdomElement | undefined>((at, name) => at && childrenCalled(at, name)[0], root)
      ?.textContent ?? '';
  const cell = (
    root: JsdomElement,
    { field, path, part }: { field: Field; path: string; part?: number },
  ): string => {
    const text = textAt(root, path);
    if (part !== undefined) return text.split(/\s+/)[part] ?? '';
    return (
      (labels === undefined ? undefined : itemsets.get(`${listByName.get(field.path)} ${text}`)) ||
      text
    );
  };
  const top = getColumns(fields, '', `/${document.querySelector('instance > *')?.localName}`);
  const main: WorkbookCell[][] = [
    [
      ...top.map(({ header }) => header),
      '_id',
      '_uuid',
      '_submission_time',
      '_validation_status',
      '_notes',
      '_status',
      '_submitted_by',
      '__version__',
      '_tags',
      'meta/rootUuid',
      '_index',
    ],
  ];
  const repeats: KoboSheets = [];
  const repeatFields = (of: readonly Field[]): Field[] =>
    of.flatMap((field) => [
      ...(field.kind === 'repeat' ? [field] : []),
      ...repeatFields(field.fields),
    ]);
  for (const repeat of repeatFields(fields)) {
    const columns = getColumns(
      repeat.fields,
      groups ? `${repeat.path.split('/').slice(2).join('/')}/` : '',
      repeat.path,
    );
    const rows: WorkbookCell[][] = [
      [
        ...columns.flatMap(({ header }) => [header, `${header}_URL`]),
        '_index',
        '_parent_table_name',
        '_parent_index',
        '_submission__id',
        '_submission__uuid',
      ],
    ];
    submissions.forEach(({ xml }, index) => {
      const root = parse(xml).documentElement;
      const uuid = (root.querySelector('instanceID')?.textContent ?? '').replace('uuid:', '');
      for (const part of root.querySelectorAll(repeat.name)) {
        const values = columns.flatMap((column) => {
          const text = cell(part, column);
          return [text, text === '' ? '' : `https://kobo.example/media/${text}`];
        });
        rows.push([...values, rows.length, 'Nálezy', index + 1, 700 + index, uuid]);
      }
    });
    repeats.push({ name: repeat.name, rows });
  }
  submissions.forEach(({ xml, rootId, review = '' }, index) => {
    const root = parse(xml).documentElement;
    const instanceId = root.querySelector('instanceID')?.textContent ?? '';
    const about = [
      700 + index,
      instanceId.replace('uuid:', ''),
      '2024-06-02T18:30:00',
      review,
      '',
      'submitted_via_web',
      'telefon',
      'vAbc',
      '',
      rootId ?? instanceId,
      index + 1,
    ];
    main.push([...top.map((column) => cell(root, column)), ...about]);
  });
  return [{ name: 'Nálezy', rows: main }, ...repeats];
}

/** Table with more columns than the test's own workbooks have. */
export function koboWorkbook(sheets: KoboSheets): Buffer {
  return makeWorkbook(sheets);
}

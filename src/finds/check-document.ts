import { trimText } from '../base/characters.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import {
  describeStrayText,
  getAttribute,
  getChild,
  getChildText,
  getLine,
  getSourceText,
  type XmlDocument,
  type XmlElement,
} from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import { type DocumentProfile, getSchemaLocation, getTargetNamespace } from './document.ts';
import { FIELDS, type Field, type FindElements, NEW_PERSON } from './fields.ts';
import type { Find } from './find.ts';
import { parseRecordValue } from './harvested-find.ts';
import { checkFindByRules, type ValidationContext } from './rules.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * Checks an import document from another program (`pas validate FILE.xml`) as the service would:
 * well-formed XML, declaration of the schema, the schema, content of the root, values, and the
 * rules of the find's target state. Each issue has the file and, where known, the line; empty where
 * there is none. An empty file or malformed XML gives only that issue, and an element that violates
 * the schema no further one.
 * @param file name for the issues; only `bytes` are read
 */
export function checkDocument(
  file: string,
  bytes: Buffer,
  context: ValidationContext,
): readonly Issue[] {
  const { schema } = context;
  if (bytes.length === 0)
    return [makeErrorIssue('xml-not-well-formed', msg`${file} is empty.`, { file })];
  let document: XmlDocument;
  try {
    document = parseXml(bytes);
  } catch (error) {
    if (!(error instanceof XmlSyntaxError)) throw error;
    // The schema's library would report the same several times, in English only.
    return [makeErrorIssue('xml-not-well-formed', error.says, { file, line: error.line })];
  }
  const violations = schema.check(bytes);
  if (violations.some((issue) => issue.rule === 'xml-not-well-formed'))
    return violations.map((issue) => issue.with({ file }));
  const find = getChild(document.root, 'samostatny_nalez', getTargetNamespace(schema.profile));
  const issues = [
    ...violations,
    ...checkDeclarations(document, schema.profile),
    ...checkRoot(document, find),
    ...listIgnoredTexts(document, find),
    ...(find === undefined ? [] : checkFind(document, find, context, violations)),
  ];
  return issues.map((issue) => issue.with({ file }));
}

/**
 * The service looks for its own prefix on the root and for one exact pair of addresses
 * (A-DECLARE-2, A-DECLARE-3).
 */
function checkDeclarations(document: XmlDocument, profile: DocumentProfile): Issue[] {
  const issues: Issue[] = [];
  const { root } = document;
  const line = getLine(document, root);
  const namespace = getTargetNamespace(profile);
  const [startTag] = getSourceText(document, root).split('>', 1);
  const declared = new RegExp(`\\sxmlns:${profile.prefix}\\s*=\\s*(["'])(.*?)\\1`).exec(
    startTag ?? '',
  )?.[2];
  if (declared !== namespace) {
    const message = msg`The root must declare xmlns:${profile.prefix}="${namespace}". Another prefix or a default namespace is refused.`;
    issues.push(makeErrorIssue('schema-declaration', message, { line }));
  }
  const tokens = (getAttribute(root, 'schemaLocation', XSI) ?? '')
    .split(/\s+/)
    .filter((token) => token !== '');
  const location = tokens.find((_, index) => index % 2 === 1 && tokens[index - 1] === namespace);
  const expected = getSchemaLocation(profile);
  if (tokens.length % 2 === 1 || location !== expected) {
    const message = msg`xsi:schemaLocation of the root must pair ${namespace} with ${expected}.`;
    issues.push(makeErrorIssue('schema-declaration', message, { line }));
  }
  return issues;
}

/** The root holds exactly one find and no comment beside it (A-IMPORT-2, A-IMPORT-9). */
function checkRoot(document: XmlDocument, find: XmlElement | undefined): Issue[] {
  const { root } = document;
  const line = getLine(document, root);
  const [only, ...otherRoots] = root.children;
  if (find === undefined || only === undefined || otherRoots.length > 0) {
    return [
      makeErrorIssue(
        'root-content',
        msg`The root must contain exactly one samostatny_nalez and nothing else.`,
        { line },
      ),
    ];
  }
  const beside =
    getSourceText(document, { start: root.start + 1, end: find.start }) +
    getSourceText(document, { start: find.end, end: root.end });
  if (!withMarks(beside).includes(MARK)) return [];
  return [
    makeErrorIssue(
      'root-content',
      msg`There is a comment or processing instruction beside the find. Remove it, or move it before the root.`,
      { line },
    ),
  ];
}

/** Reports text beside elements, which the schema allows and an import discards. */
function listIgnoredTexts(document: XmlDocument, find: XmlElement | undefined): Issue[] {
  const guarded = find && getChild(find, 'chranene_udaje');
  const elements = guarded === undefined ? [document.root] : [document.root, guarded];
  const issues: Issue[] = [];
  for (const element of elements) {
    const says = describeStrayText(element);
    if (says === undefined) continue;
    const line = getLine(document, element);
    issues.push(makeWarningIssue('stray-text', says, { element: element.name, line }));
  }
  return issues;
}

/**
 * Checks the values of the find, and the find by its rules; at most one check reports an element.
 */
function checkFind(
  document: XmlDocument,
  find: XmlElement,
  context: ValidationContext,
  violations: readonly Issue[],
): Issue[] {
  const findElement = (name: string): XmlElement | undefined => {
    const parent = FIELDS.find((field) => field.name === name)?.parent;
    return getChild(parent === undefined ? find : (getChild(find, parent) ?? find), name);
  };
  const elements = Object.fromEntries(
    FIELDS.flatMap((field) => parseField(field, findElement(field.name))),
  ) as FindElements;
  const typedFind: Find = { localId: '', elements, photos: [] };
  const issues: Issue[] = [];
  // One finding per element: a value that is no number is not also reported as out of range.
  const reported = new Set(violations.map((issue) => issue.element));
  for (const judge of [
    () => checkLiterals(document, find, findElement),
    () => checkFindByRules(typedFind, context),
  ]) {
    const fresh = judge().filter(
      (issue) => issue.element === undefined || !reported.has(issue.element),
    );
    issues.push(
      ...fresh.map((issue) =>
        issue.with({ line: getLine(document, findElement(issue.element ?? '') ?? find) }),
      ),
    );
    for (const issue of fresh) reported.add(issue.element);
  }
  return issues.map((issue) => issue.without('find'));
}

/** Checks values that the types of a find cannot express, and comments within values. */
function checkLiterals(
  document: XmlDocument,
  find: XmlElement,
  findElement: (name: string) => XmlElement | undefined,
): Issue[] {
  const issues: Issue[] = [];
  const refuse = (rule: string, element: string, message: Message): void => {
    issues.push(makeErrorIssue(rule, message, { element }));
  };
  const refuseText = (rule: string, element: string, text: string, expected: string): void =>
    refuse(rule, element, msg`${element} is "${text}". Write ${expected}.`);
  for (const { rule, element, form, expected } of CHOSEN) {
    const text = getElementText(getChild(find, element));
    if (text !== '' && !form.test(text)) refuseText(rule, element, text, expected);
  }
  const system = getChildText(find, 'geom_system');
  for (const { name, kind, epsg } of FIELDS) {
    const element = findElement(name);
    if (element === undefined) continue;
    const isReference = kind === 'reference' || kind === 'term';
    const id = getAttribute(element, 'id') ?? '';
    if ((!isReference || id === NEW_PERSON) && isCutShort(getSourceText(document, element))) {
      refuse(
        'comment-in-value',
        name,
        msg`${name} contains a comment; the service reads only the text before it. Remove the comment.`,
      );
    }
    if (isReference && id !== trimText(id)) {
      refuse(
        'identifier-form',
        name,
        msg`The id of ${name} is "${id}". The service does not ignore spaces: remove them.`,
      );
    }
    if (kind !== 'point' || epsg === undefined || system !== epsg) continue;
    const code = getAttribute(element, 'EPSG') ?? epsg;
    if (getElementText(element) === '') {
      refuse(
        'geometry-form',
        name,
        msg`${name} is present but empty. Write the point, or remove the element.`,
      );
    } else if (Number(code) !== Number(epsg)) {
      refuseText('coordinate-system', name, `EPSG ${code}`, `EPSG="${epsg}"`);
    }
  }
  return issues;
}

function getElementText(element: XmlElement | undefined): string {
  return trimText(element?.text ?? '');
}

const MARK = '<?>';

/** Replaces each comment and processing instruction by a mark; a CDATA section is text. */
function withMarks(source: string): string {
  return source.replace(OTHER_NODES, (node) => (node.startsWith('<![') ? 'text' : MARK));
}

const OTHER_NODES = /<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<!--[\s\S]*?(?:-->|$)|<\?[\s\S]*?(?:\?>|$)/g;

/**
 * Tells if text stands behind a comment or an instruction, where the service does not read it
 * (A-VALUE-1).
 */
function isCutShort(source: string): boolean {
  return /<\?>\s*[^\s<]/.test(withMarks(source));
}

const TARGET_STATE = /^\+?0*[123]$/;
const SYSTEM = /^(?:4326|5514)$/;

/** Elements with one of a few texts. An import asks for a new identifier, and a state below 4. */
const CHOSEN = [
  { rule: 'ident-cely', element: 'ident_cely', form: /^:tba$/, expected: ':tba' },
  { rule: 'target-state', element: 'stav', form: TARGET_STATE, expected: '1, 2, 3' },
  { rule: 'coordinate-system', element: 'geom_system', form: SYSTEM, expected: '4326, 5514' },
];

/** Texts that the types of a find can hold; any other one is reported as a literal. */
const LITERALS: Readonly<Partial<Record<Field['kind'], RegExp>>> = {
  integer: /./,
  boolean: /./,
  state: TARGET_STATE,
  'geom-system': SYSTEM,
};

function parseField(field: Field, element: XmlElement | undefined): [string, unknown][] {
  const { name, kind } = field;
  if (element === undefined) return [];
  const text = getElementText(element);
  if (kind === 'term' || kind === 'reference')
    return [[name, { id: getAttribute(element, 'id')?.trim() ?? '', text }]];
  return LITERALS[kind]?.test(text) === false ? [] : [[name, parseRecordValue(field, text)]];
}

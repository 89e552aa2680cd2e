import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, messageOf } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { packageRoot } from '../base/package-root.ts';
import { parseXml } from '../xml/parse.ts';
import { strayTextMessage, strayTextsWithin } from '../xml/stray-text.ts';
import type { SchemaViolation } from '../xml/xsd.ts';
import type { DocumentProfile } from './find.ts';
import { compileLocally, type SchemaSource } from './schema-imports.ts';

/** The schema of one profile, ready to judge documents. */
export type FindSchema = {
  readonly profile: DocumentProfile;
  /** Issues carry `line`, `element` and a message in words. */
  check(document: Buffer): readonly Issue[];
  [Symbol.dispose](): void;
};

/** The deployment's own schema, where it was fetched. */
export type ReadOwnSchema = (profile: DocumentProfile) => Promise<SchemaSource | undefined>;

/**
 * Opens the deployment's own schema where there is one, else the one that comes with pas; nothing is fetched. The XML
 * library is loaded only here, since most commands need none.
 *
 * @throws ConfigError where there is no schema of the profile's version, or the deployment's own cannot be used
 */
export async function openFindSchema(
  profile: DocumentProfile,
  readOwn: ReadOwnSchema = async () => undefined,
): Promise<FindSchema> {
  const own = await readOwn(profile);
  const validator = await compileLocally(own ?? (await bundledSchema(profile))).catch((thrown: unknown) => {
    throw new ConfigError(messageOf(thrown), {
      cause: thrown,
      hint: t`Fetch it again with \`pas schema update\`, or go back to the one that comes with pas: pas schema update --bundled`,
    });
  });
  return {
    profile,
    check(document) {
      const { wellFormed, violations } = validator.validate(document);
      const issues = violations.map((violation) => toIssue(violation, wellFormed ? 'schema' : 'xml-not-well-formed'));
      return violations.some(isAboutText) ? withPlacesOfText(document, violations, issues) : issues;
    },
    [Symbol.dispose]: () => validator[Symbol.dispose](),
  };
}

/** @throws ConfigError where pas has no schema of the profile's version */
export async function bundledSchema(profile: DocumentProfile): Promise<SchemaSource> {
  const template = await readSchema(profile.schemaVersion);
  const { fillPlaceholders } = await import('../xml/xsd.ts');
  return {
    url: `svc/${profile.schemaVersion}/svc.xsd`,
    bytes: fillPlaceholders(template, { schema_base: profile.schemaBase, prefix: profile.prefix }),
  };
}

async function readSchema(version: string): Promise<Buffer> {
  if (!/^\d+\.\d+$/.test(version)) throw unknownVersion(version);
  try {
    return await readFile(join(packageRoot, 'schemas/svc', version, 'svc.xsd'));
  } catch (error) {
    throw unknownVersion(version, error);
  }
}

function unknownVersion(version: string, cause?: unknown): ConfigError {
  return new ConfigError(t`pas has no schema of version ${version}.`, {
    hint: t`Set schema_version of the profile to 2.2, the version that the service takes.`,
    cause,
  });
}

function toIssue({ line, element, message }: SchemaViolation, rule: string): Issue {
  return errorIssue(rule, inWords(message), {
    ...(line === null ? {} : { line }),
    ...(element === undefined ? {} : { element }),
  });
}

/** The commonest findings of the XML library, said for people; the others are clear enough as they are. */
const WORDINGS: readonly (readonly [RegExp, string])[] = [
  [
    /^Element '([^']+)': No matching global declaration available for the validation root\.$/,
    t`The root $1 is not the one of the schema. Check its name and the namespace, version included.`,
  ],
  [
    /^Element '([^']+)': This element is not expected\. Expected is (?:one of )?\( (.+?) \)\.$/,
    t`$1 may not stand here; expected here: $2. The order of elements is fixed; add what is missing, or move $1 to its place.`,
  ],
  [
    /^Element '([^']+)': This element is not expected\.$/,
    t`$1 may not stand here. Take it out; it may also be misspelt, or stand twice.`,
  ],
  [
    /^Element '([^']+)': Missing child element\(s\)\. Expected is (?:one of )?\( (.+?) \)\.$/,
    t`$1 ends too early; expected here: $2. Add it.`,
  ],
  [/^Element '([^']+)': The attribute '([^']+)' is required but missing\.$/, t`$1 needs the attribute $2. Add it.`],
  [
    /^Element '([^']+)'(?:, attribute '([^']+)')?: '([\s\S]*)' is not a valid value of the atomic type 'xs:(\w+)'\.$/,
    t`$1 $2 is "$3", which is no $4. Correct the value.`,
  ],
  [
    /^Element '([^']+)': Character content other than whitespace is not allowed because the content type is '[\w-]+'\.$/,
    t`$1 may hold elements only, and has text in it. Put the text into an element, or take it out.`,
  ],
];

const TEXT_MESSAGE = /^Element '[^']+': Character content other than whitespace is not allowed/;

function isAboutText({ message }: SchemaViolation): boolean {
  return TEXT_MESSAGE.test(message);
}

/** The XML library has text where its element begins, and says it once for each piece between comments. */
function withPlacesOfText(document: Buffer, violations: readonly SchemaViolation[], issues: readonly Issue[]): readonly Issue[] {
  const parsed = parseXml(document);
  const strays = [...strayTextsWithin(parsed, parsed.root)];
  const told = new Set<string | undefined>();
  return issues.flatMap((issue, index) => {
    const of = strays.filter(({ element }) => element.name === issue.element);
    if (of.length === 0 || !isAboutText(violations[index] ?? { line: null, message: '' })) return [issue];
    if (told.has(issue.element)) return [];
    told.add(issue.element);
    return of.map((stray) => ({ ...issue, line: stray.line, message: strayTextMessage(stray) }));
  });
}

function inWords(message: string): string {
  for (const [pattern, words] of WORDINGS) {
    if (pattern.test(message)) return message.replace(pattern, words).replace('  ', ' ');
  }
  return message;
}

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeIdKey } from '../../base/characters.ts';
import { formatLocalDate } from '../../base/clock.ts';
import { lockForChange } from '../../base/disk/lock-file.ts';
import { writePrivateFile } from '../../base/disk/output-file.ts';
import { ConfigError, FileError, UsageError } from '../../base/errors.ts';
import { formatIssuePlace, isReadable, makeErrorIssue } from '../../base/issue.ts';
import { cmd, joinMessages, msg, msgid, ngettext, t } from '../../base/message.ts';
import { foldName } from '../../base/names.ts';
import {
  type DocumentProfile,
  getSchemaLocation,
  openFindSchema,
  type ReadOwnSchema,
} from '../../finds/document.ts';
import { formatReferenceCell, isElementName } from '../../finds/fields.ts';
import type { Find, LookupTerm } from '../../finds/find.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { type ValidatedFind, validateFind } from '../../finds/rules.ts';
import { findTermByIdent } from '../../finds/vocabulary/terms.ts';
import { readKeptFile } from '../../harvest/update-schema.ts';
import {
  makePhotographKeeping,
  type PhotographKeeping,
} from '../../outbox/changes/kept-photographs.ts';
import { ENTRY_STATES } from '../../outbox/entry.ts';
import { findKnownAccount } from '../../outbox/open-outbox.ts';
import { listLabelledTexts } from '../../outbox/views/entry-words.ts';
import { listIdentifiersOfUnacceptedFinds } from '../../outbox/views/outbox-status.ts';
import type { FindFilter } from '../../outbox/views/records-at-service.ts';
import type { ColumnMap } from '../../tables/columns/column-rule.ts';
import {
  type FindDefaults,
  mergeDefaults,
  parseDefaults,
  parseFixedValues,
  parseSettingText,
} from '../../tables/columns/settings.ts';
import {
  chooseLabel,
  type FormatReference,
  type LabelLookup,
} from '../../tables/exports/exported-find.ts';
import { parseCsvTable } from '../../tables/formats/csv-table.ts';
import { parseHeaderRows } from '../../tables/header-row.ts';
import { readInputFile, readPipe, toUtf8 } from '../../tables/input-file.ts';
import {
  formatMapping,
  type MappedTerm,
  type Mapping,
  makeMappedLookup,
  parseMapping,
} from '../../tables/own-terms/mapping.ts';
import { parseTableBytes, readTable } from '../../tables/readers.ts';
import type { Table } from '../../tables/table.ts';
import type { OfferTerms } from '../interview/answer.ts';
import { printIssues } from '../terminal.ts';
import type { Context } from './context.ts';
import { openLookups, openProfileVocabulary } from './open-service.ts';

/**
 * Opens everything for the validation: the profile's schema, the account as the service last
 * described it (undefined before the first sign-in), the harvested vocabularies with the museum's
 * mapping, whose issues are dropped, and the day. Nothing is requested. The numbers of other finds
 * are not among it: `lookupNumber` is the caller's.
 * @throws ConfigError where the schema or the profile cannot be used; DatabaseError where outbox or
 * vocabulary cannot
 */
export async function openValidationContext(context: Context) {
  const profile = context.getProfile();
  const schema = await openFindSchema(profile, makeOwnSchemaReader(context));
  const lookups = await openLookups(context);
  const lookupTerm = makeMappedLookup(lookups.lookupTerm, await readMappingFile(context));
  const account = findKnownAccount(await context.openOutbox());
  return {
    schema,
    ...lookups,
    lookupTerm,
    role: account?.role,
    organisation: account?.organisation,
    today: formatLocalDate(context.clock.now()),
  };
}

/**
 * Opens the lookup of the labels of vocabulary entries by identifier, which are cached, since finds
 * repeat them; it returns undefined for an unknown entry, and an English label may be empty.
 * @throws ConfigError where no profile is chosen; DatabaseError where the vocabulary is unusable
 */
export async function openLabelLookup(context: Context): Promise<LabelLookup> {
  const vocabulary = await openProfileVocabulary(context);
  const labelsById = new Map<string, ReturnType<LabelLookup>>();
  return (id) => {
    if (!labelsById.has(id)) {
      const term = findTermByIdent(vocabulary, id);
      labelsById.set(
        id,
        term === undefined ? undefined : { cs: term.label, en: term.labelEn ?? '' },
      );
    }
    return labelsById.get(id);
  };
}

/**
 * Opens the function that formats references for a table: the label in the language of the output,
 * if `pas import` reads the same entry from it, else the identifier, or the name of a person whom
 * the service does not know.
 * @param getLabels from {@link openLabelLookup}
 * @throws ConfigError where no profile is chosen; DatabaseError where the vocabulary is unusable
 */
export async function openReferenceFormatter(
  context: Context,
  getLabels: LabelLookup,
): Promise<FormatReference> {
  const { lookupTerm } = await openLookups(context);
  const resolve = makeReferenceResolver(
    makeMappedLookup(lookupTerm, await readMappingFile(context)),
  );
  return (field, reference) => {
    const labels = getLabels(reference.id);
    if (labels === undefined) return formatReferenceCell(reference);
    const label = chooseLabel(labels);
    const reading = resolve(field, label);
    const isSame = isReadable(reading) && reading.value.id === reference.id;
    return isSame ? label : formatReferenceCell(reference);
  };
}

/**
 * Opens the function that validates a find, which is then fast for many of them. Nothing is
 * stored, and numbers are not compared with those of other finds.
 * @throws ConfigError, DatabaseError as {@link openValidationContext}
 */
export async function openFindValidator(context: Context): Promise<(find: Find) => ValidatedFind> {
  const ruleContext = await openValidationContext(context);
  return (find) => validateFind(find, ruleContext);
}

/**
 * Returns the values to prefill for each find: the given ones, and for other elements the defaults
 * of config.toml, of the project that a given `projekt` names, else of the profile.
 * @param flags `element=value`
 * @throws UsageError for another form, an unknown element, one that is given twice or that differs
 * for each find; ConfigError where config.toml has invalid defaults, or no profile is chosen
 */
export function listPrefilledValues(context: Context, flags: readonly string[] = []): FindDefaults {
  const set = parseFixedValues(flags);
  const project = set.find(({ name }) => name === 'projekt')?.value;
  const defaults = mergeDefaults(
    parseDefaults(context.places.configFile, context.getConfig().defaults),
    context.getProfile().name,
    project,
  );
  return [
    ...set,
    ...defaults.filter(({ name }) => !set.some((ownSetting) => ownSetting.name === name)),
  ];
}

/**
 * Opens the function that offers terms to a person who is asked.
 * @throws ConfigError where no profile is chosen; DatabaseError where the vocabulary is unusable
 */
export async function openTermOffers(context: Context): Promise<OfferTerms> {
  const { makeTermOfferer } = await import('../interview/answer.ts');
  return makeTermOfferer({
    vocabulary: await openProfileVocabulary(context),
    mapping: await readMappingFile(context),
  });
}

/**
 * Makes the functions that inspect and store photographs, as the profile says: up to
 * `photo_max_bytes`, and without their places if `strip_gps` is set.
 * @throws ConfigError where no profile is chosen
 */
export function makeProfileKeeping(context: Context): PhotographKeeping {
  const { photoMaxBytes, stripGps } = context.getProfile();
  const { photosFolder } = context.getOutboxPlaces();
  return makePhotographKeeping(photosFolder, { maxBytes: photoMaxBytes, stripGps });
}

/**
 * Returns the absolute folder of photographs: that of the option, else the one that contains the
 * table. It need not exist.
 */
export function resolvePhotoFolder(tablePath: string, option: string | undefined): string {
  return option === undefined ? dirname(resolve(tablePath)) : resolve(option);
}

/**
 * Returns the folder of the schema that was fetched from the profile's own service, named after
 * its address. It need not exist.
 */
export function getOwnSchemaFolder({ places }: Context, profile: DocumentProfile): string {
  const { host, pathname } = new URL(getSchemaLocation(profile));
  const parts = [host, ...pathname.replace(/\.xsd$/, '').split('/')].filter((part) => part !== '');
  return join(
    places.schemasFolder,
    ...parts.map((part) => part.replace(/[^\w.-]/g, '_').replace(/^\.+$/, '_')),
  );
}

/** Reads the deployment's own schema as last fetched. A damaged one is not used, with a warning. */
function makeOwnSchemaReader(context: Context): ReadOwnSchema {
  return async (profile) => {
    try {
      const kept = readKeptFile(getOwnSchemaFolder(context, profile));
      return kept && { url: getSchemaLocation(profile), bytes: kept.bytes };
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      const hint = thrown.hint ?? '';
      context.terminal.warn(t`${thrown.message} The bundled schema is used. ${hint}`);
      return undefined;
    }
  };
}

/**
 * Reads the museum's mapping; without rows and issues where there is no file. Faults are issues: a
 * faulty row is left out, and all rows of a file that is no table or lacks a column.
 * @throws Error of Node where the file exists and cannot be read, such as a folder
 */
export async function readMappingFile({
  places: { mappingFile: file },
}: Context): Promise<Mapping> {
  if (!existsSync(file)) return { file, rows: [], issues: [] };
  try {
    const { text, issues } = await toUtf8(file, readFileSync(file));
    const mapping = parseMapping(parseCsvTable(file, text));
    return { ...mapping, issues: [...issues, ...mapping.issues] };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    const advice = msg`Save it as CSV in UTF-8, or move it away; until then, pas uses none of your own terms.`;
    return {
      file,
      rows: [],
      issues: [
        makeErrorIssue('mapping-file', joinMessages([thrown.message, advice], ' '), { file }),
      ],
    };
  }
}

/**
 * Returns the identifiers of vocabulary entries that the mapping refers to, or a find that is
 * neither accepted nor dropped. Without an outbox only the mapping counts, and none is created.
 * @throws DatabaseError where the outbox is unusable
 */
export async function listTermIdsInUse(context: Context): Promise<ReadonlySet<string>> {
  const { rows } = await readMappingFile(context);
  const hasOutbox = existsSync(context.getOutboxPlaces().outboxFile);
  const queued = hasOutbox ? listIdentifiersOfUnacceptedFinds(await context.openOutbox()) : [];
  return new Set([...rows.map((row) => row.id), ...queued]);
}

/**
 * Changes the mapping on disk under a lock: `change` gets the current one, so that concurrent
 * commands do not overwrite each other's changes. Nothing is written where the rows stay the same,
 * or `change` throws.
 * @param change returns the new rows, and further results, which are returned
 * @throws UsageError where the current file has an error: it would be lost; ConfigError where
 * another process keeps the lock for two seconds, which block the thread; DatabaseError where the
 * disk fails; errors of `change`
 */
export async function changeMappingFile<Change extends { readonly rows: readonly MappedTerm[] }>(
  context: Context,
  change: (mapping: Mapping) => Change,
): Promise<Change> {
  const { home, mappingFile } = context.places;
  const path = join(home, '.mapping.lock');
  const lock = lockForChange(
    path,
    context.clock,
    msg`${path}: another pas process is changing the mapping.`,
  );
  try {
    const before = await readMappingToChange(context);
    const changed = change(before);
    const text = formatMapping(changed.rows);
    if (text !== formatMapping(before.rows)) writePrivateFile(mappingFile, text);
    return changed;
  } finally {
    lock.release();
  }
}

/**
 * Reads the mapping for a change.
 * @throws UsageError where it has an error: a row that is not read would be lost
 */
async function readMappingToChange(context: Context): Promise<Mapping> {
  const mapping = await readMappingFile(context);
  const first = mapping.issues.find(({ severity }) => severity === 'error');
  if (first === undefined) return mapping;
  throw new UsageError(
    `${formatIssuePlace(first.with({ file: mapping.file }))}: ${first.message}`,
    {
      hint: t`Correct the file; \`${cmd`pas vocab map list`}\` lists all its errors.`,
    },
  );
}

/** Options that replace the detection of a table's form. */
export type TableOptions = {
  readonly sheet?: string;
  readonly encoding?: string;
  readonly headerRow?: string;
};

/**
 * Reads a table of a file, of a folder of forms from a phone, or of standard input for `-`, which
 * can be read only once. Rows that cannot be read are issues of the table.
 * @param options.photos folder in which file names of photographs are looked up; by default that of
 * the table
 * @throws FileError where it cannot be read; UsageError for invalid rows of the header
 */
export async function readTableOrInput(
  context: Context,
  file: string,
  { sheet, encoding, headerRow, photos }: TableOptions & { readonly photos?: string } = {},
): Promise<Table> {
  const options = {
    sheet,
    encoding,
    photoFolder: photos === undefined ? undefined : resolve(photos),
    headerRows: headerRow === undefined ? undefined : parseHeaderRows(headerRow),
  };
  return file === '-'
    ? parseTableBytes(...(await readFileOrInput(context, file)), options)
    : readTable(file, options);
}

/**
 * Reads a file, or standard input for `-`, and returns it with its name in messages.
 * @throws FileError where it cannot be read or is too large
 */
export async function readFileOrInput(
  { streams }: Context,
  file: string,
): Promise<[name: string, bytes: Buffer]> {
  if (file !== '-') return [file, await readInputFile(file)];
  return [t`standard input`, await readPipe(t`standard input`, streams.stdin)];
}

/**
 * Reads a column map from a file or standard input (`-`), and checks it, with its values for all
 * finds.
 * @throws UsageError where the map has any issue, which are printed before; FileError where it
 * cannot be read
 */
export async function readColumnMap(
  context: Context,
  mapFile: string,
  lookupTerm: LookupTerm,
): Promise<ColumnMap> {
  const [file, bytes] = await readFileOrInput(context, mapFile);
  const { map, issues } = (
    await import('../../tables/columns/column-map.ts')
  ).parseCheckedColumnMap(file, bytes, lookupTerm);
  if (map !== undefined) return map;
  printIssues(context.terminal, issues, context.terminal.warn);
  const faults = issues.length;
  throw new UsageError(
    ngettext(
      msgid`${file} has ${faults} error. Nothing was imported.`,
      `${file} has ${faults} errors. Nothing was imported.`,
      faults,
    ),
    { hint: t`Correct the file, or create it again: ${cmd`pas import`} TABLE --wizard` },
  );
}

/**
 * Filters of finds that are not elements. A find without an import has no state; one without a
 * valid date matches neither `since` nor `until`, whose days are included.
 */
const FILTERS: Readonly<Record<string, (value: string) => FindFilter>> = {
  state(value) {
    const states = parseStates(value);
    return (_, imported) => imported !== undefined && states.includes(imported.state);
  },
  since(value) {
    const day = parseDay(value);
    return ({ elements }) => String(elements['datum_nalezu'] ?? '') >= day;
  },
  until(value) {
    const day = parseDay(value);
    return ({ elements: { datum_nalezu: found } }) => found !== undefined && String(found) <= day;
  },
  text(value) {
    const sought = foldName(value);
    return ({ localId, elements }, imported) => {
      const labelled = listLabelledTexts(elements);
      const texts = [localId, imported?.identCely ?? '', ...labelled.map(([, text]) => text)];
      return foldName(texts.join(' ')).includes(sought);
    };
  },
};

/**
 * Parses the texts of `--where` in their order; a find must match all. None for undefined.
 * @throws UsageError for another form, an unknown element, state or day
 */
export function parseFilters(texts: readonly string[] = []): readonly FindFilter[] {
  return texts.map(parseFilter);
}

function parseFilter(text: string): FindFilter {
  const [, name = '', value = ''] = /^\s*(\w+)\s*=(.*)$/s.exec(text) ?? [];
  return Object.hasOwn(FILTERS, name)
    ? (FILTERS[name]?.(value.trim()) ?? parseElementFilter(text))
    : parseElementFilter(text);
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
  if (!/^\d{4}-\d\d-\d\d$/.test(text))
    throw new UsageError(t`"${text}" is not a date. Write it as YYYY-MM-DD.`);
  return text;
}

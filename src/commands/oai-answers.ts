import { t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import type { Identity, ListPage, MetadataFormat, OaiSet } from '../oai/client.ts';
import type { OaiHeader, OaiRecord } from '../oai/record.ts';
import { elementJson, type Json, recordJson } from '../oai/record-json.ts';
import type { RepeatedElements } from '../oai/repeated-elements.ts';
import { printable } from '../ui/terminal.ts';

/** Answers of the harvesting interface, for people and as JSON. */

export function showIdentity({ terminal }: Context, identity: Identity): void {
  const value = {
    repository_name: identity.repositoryName,
    base_url: identity.baseUrl,
    protocol_version: identity.protocolVersion,
    admin_emails: identity.adminEmails,
    earliest_datestamp: identity.earliestDatestamp,
    deleted_record: identity.deletedRecord,
    granularity: identity.granularity,
    compressions: identity.compressions,
    descriptions: identity.descriptions.map((element) => ({ [element.name]: elementJson(element) })),
  };
  for (const line of treeLines(value)) terminal.line(line);
  terminal.value(value);
}

export function showFormats({ terminal }: Context, formats: readonly MetadataFormat[]): void {
  const rows = formats.map(({ prefix, namespace, schema }) => [prefix, namespace, schema].map(printable));
  terminal.table([t`PREFIX`, t`NAMESPACE`, t`SCHEMA`], rows);
  terminal.value({ formats });
}

export function showSets(context: Context, page: ListPage<OaiSet>): void {
  const { terminal } = context;
  const rows = page.items.map(({ setSpec, name }) => [setSpec, name].map(printable));
  terminal.table([t`SET`, t`NAME`], rows);
  const sets = page.items.map(({ setSpec, name, descriptions }) => ({
    set: setSpec,
    name,
    descriptions: descriptions.map((element) => ({ [element.name]: elementJson(element) })),
  }));
  terminal.value({ sets, ...pagingValue(page) });
  noteRest(context, page, 'sets');
}

export function showHeaders(context: Context, page: ListPage<OaiHeader>): void {
  const { terminal } = context;
  const rows = page.items.map(({ identifier, datestamp, setSpecs, deleted }) =>
    [identifier, datestamp, setSpecs.join(' '), deleted ? t`deleted` : ''].map(printable),
  );
  terminal.table([t`IDENTIFIER`, t`DATESTAMP`, t`SETS`, ''], rows);
  const headers = page.items.map(({ identifier, datestamp, setSpecs, deleted }) => ({
    identifier,
    datestamp,
    sets: setSpecs,
    ...(deleted ? { deleted } : {}),
  }));
  terminal.value({ headers, ...pagingValue(page) });
  noteRest(context, page, 'identifiers');
}

export function showRecords(context: Context, page: ListPage<OaiRecord>, repeated: RepeatedElements): void {
  for (const record of page.items) printRecord(context, record, repeated);
  context.terminal.value({ records: page.items.map((record) => recordJson(record, repeated)), ...pagingValue(page) });
  noteRest(context, page, 'records');
}

export function showRecord(context: Context, record: OaiRecord, repeated: RepeatedElements): void {
  printRecord(context, record, repeated);
  context.terminal.value(recordJson(record, repeated));
}

function printRecord({ terminal }: Context, record: OaiRecord, repeated: RepeatedElements): void {
  const { identifier, ...rest } = recordJson(record, repeated);
  terminal.line(terminal.color.bold(printable(String(identifier))));
  for (const line of treeLines(rest)) terminal.line(`  ${line}`);
  terminal.line();
}

function pagingValue({ next, completeListSize, cursor, tokenExpiresMs, responseDateMs }: ListPage<unknown>): object {
  return {
    resumption_token: next ?? null,
    complete_list_size: completeListSize ?? null,
    cursor: cursor ?? null,
    token_expires: tokenExpiresMs === undefined ? null : new Date(tokenExpiresMs).toISOString(),
    response_date: new Date(responseDateMs).toISOString(),
  };
}

function noteRest({ terminal }: Context, page: ListPage<unknown>, command: string): void {
  const { items, next, completeListSize, cursor = 0 } = page;
  if (items.length === 0) terminal.note(t`Nothing here.`);
  if (next === undefined) return;
  const reached = cursor + items.length;
  const token = printable(next);
  const first = completeListSize === undefined ? t`There are more.` : t`${reached} of ${completeListSize}.`;
  terminal.note(t`${first} Next page: pas oai ${command} --resumption-token '${token}'`);
}

/** "name: value" a line, children indented, a list as its name repeated. */
function treeLines(value: { readonly [name: string]: Json }): string[] {
  return Object.entries(value).flatMap(([name, child]) =>
    (Array.isArray(child) ? (child as readonly Json[]) : [child]).flatMap((one) => branchLines(printable(name), one)),
  );
}

function branchLines(name: string, value: Json): string[] {
  if (value === null || typeof value !== 'object') return [`${name}: ${value === null ? '' : printable(String(value))}`];
  if ('masked' in value) return [`${name}: (${t`not shown to this account`})`];
  const { '@id': id, '@lang': lang, '#text': text, ...rest } = value as { readonly [name: string]: Json };
  const marks = [id, lang].filter((mark) => mark !== undefined).map((mark) => ` (${printable(String(mark))})`);
  const own = text === undefined ? '' : ` ${printable(String(text))}`;
  return [`${name}:${own}${marks.join('')}`, ...treeLines(rest).map((line) => `  ${line}`)];
}

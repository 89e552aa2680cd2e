import { createHash } from 'node:crypto';
import { must, NotTraining, shortened, skipUnless } from './check.ts';
import { findDocument, inPrefix, type Lines, type Terms } from './find-document.ts';
import { firstPage, getEntity, getIdent, oai, oaiBase, schemaBase } from './harvest.ts';
import type { Answer, Request } from './line.ts';
import type { Account, Scene } from './scene.ts';
import { fetchSchema, mustBeValid } from './schema.ts';
import { at, type Element, readXml, textAt, writeXml } from './xml.ts';

export type Part = { readonly name: string; readonly fileName: string; readonly bytes: Buffer };

/** Parts of an upload; each has the right default. */
export type SendOptions = {
  readonly as?: Account;
  /** null sends none. */
  readonly digest?: string | null;
  readonly parts?: readonly Part[];
};

/** As the contract writes a project, but of no year: no service has a find of it. */
export const NO_FIND = 'C-000000000-N00000';

/** A picture of one pixel. */
export const PHOTOGRAPH = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

export function getAccount(scene: Scene): Account {
  const { account } = scene.options;
  skipUnless(account !== undefined, 'needs an account: PAS_USERNAME and PAS_PASSWORD');
  return account;
}

export function signIn(scene: Scene, { username, password }: Account): Promise<Answer> {
  return scene.line.ask({
    method: 'POST',
    url: `${scene.options.baseUrl}/api/token-auth/`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
    repeatable: true,
  });
}

export function fetchToken(scene: Scene, account: Account): Promise<string> {
  return scene.given(`token of ${account.username}`, async () => {
    const answer = await signIn(scene, account);
    const token = getJson(answer)?.['token'];
    must(
      answer.status === 200 && typeof token === 'string' && token !== '',
      `${answer.status} ${answer.type}`,
    );
    return token;
  });
}

export async function bearer(
  scene: Scene,
  account: Account = getAccount(scene),
): Promise<Readonly<Record<string, string>>> {
  return { authorization: `Bearer ${await fetchToken(scene, account)}` };
}

export async function userInfo(
  scene: Scene,
  account: Account = getAccount(scene),
): Promise<Answer> {
  return scene.line.ask({
    url: `${scene.options.baseUrl}/api/uzivatel-info/`,
    headers: await bearer(scene, account),
  });
}

/** Account information of the service. */
export function fetchUser(
  scene: Scene,
  account: Account = getAccount(scene),
): Promise<{ readonly ident: string; readonly isResearcher: boolean }> {
  return scene.given(`user ${account.username}`, async () => {
    const user = at(await readXml((await userInfo(scene, account)).text), 'uzivatel');
    must(user !== undefined, 'no uzivatel');
    const groups = user.children.filter(({ name }) => name === 'skupina').map(({ text }) => text);
    const isResearcher = !groups.some((group) =>
      ['Archeolog', 'Archivář', 'Administrátor'].includes(group),
    );
    return { ident: textAt(user, 'ident_cely') ?? '', isResearcher };
  });
}

export async function needArchaeologist(scene: Scene): Promise<void> {
  skipUnless(
    !(await fetchUser(scene)).isResearcher,
    'needs an account with the role Archaeologist or higher',
  );
}

export function getResearcher(scene: Scene): Account {
  const { researcher } = scene.options;
  skipUnless(
    researcher !== undefined,
    'needs an account with the role Researcher: PAS_RESEARCHER_USERNAME and PAS_RESEARCHER_PASSWORD',
  );
  return researcher;
}

export function sha512(bytes: Buffer | string): string {
  return `sha-512=:${createHash('sha512').update(bytes).digest('base64')}:`;
}

export function getJson(answer: Answer): Readonly<Record<string, unknown>> | undefined {
  if (answer.type !== 'application/json') return undefined;
  try {
    const value: unknown = JSON.parse(answer.text);
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

const BOUNDARY = 'pas-conformance-7MA4YWxkTrZu0gW';

/** POST of one file. Never repeated: it may have been stored. */
export async function sendFile(
  scene: Scene,
  path: string,
  file: Part,
  options: SendOptions = {},
): Promise<Answer> {
  return scene.line.ask(await fileRequest(scene, path, file, options));
}

export async function fileRequest(
  scene: Scene,
  path: string,
  file: Part,
  options: SendOptions = {},
): Promise<Request> {
  const digest = options.digest === undefined ? sha512(file.bytes) : options.digest;
  return {
    method: 'POST',
    url: `${scene.options.baseUrl}${path}`,
    headers: {
      ...(await bearer(scene, options.as)),
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...(digest === null ? {} : { 'content-digest': digest }),
    },
    body: multipart(options.parts ?? [file]),
  };
}

export function multipart(parts: readonly Part[]): Buffer {
  const chunks = parts.flatMap(({ name, fileName, bytes }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n`,
    ),
    Buffer.from('Content-Type: application/octet-stream\r\n\r\n'),
    bytes,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** Records that a find refers to, as the harvesting interface lists them. */
export function fetchTerms(scene: Scene): Promise<Terms> {
  return scene.given('terms', async () => {
    const { project } = scene.options;
    skipUnless(project !== undefined, 'needs --project');
    const first = async (
      set: string,
      isWanted: (entity: Element) => boolean = () => true,
    ): Promise<string> => {
      const { records } = await firstPage(scene, set);
      const found = records.find(
        (record) =>
          !record.isDeleted &&
          getEntity(record) !== undefined &&
          isWanted(getEntity(record) as Element),
      );
      skipUnless(found !== undefined, `the harvesting interface lists no entry of ${set}`);
      return getIdent(found);
    };
    return {
      project,
      note: `pas conformance ${scene.mark}`,
      okolnosti: await first('heslo:nalezove_okolnosti'),
      obdobi: await first('heslo:obdobi'),
      druh_nalezu: await first('heslo:predmet_druh'),
      specifikace: await first('heslo:predmet_specifikace'),
      pristupnost: await first('heslo:pristupnost', (entry) => textAt(entry, 'zkratka') !== 'A'),
      predano_organizace: await first(
        'organizace',
        (organisation) => textAt(organisation, 'zanikla') !== 'true',
      ),
      nalezce: await first('osoba'),
    };
  });
}

export type Draft = {
  readonly stav?: 1 | 2 | 3;
  readonly changes?: Lines;
  readonly xml?: (document: string) => string;
} & SendOptions;

/** Sends a find that state `stav` (1) accepts, but for the changes. */
export async function importFind(
  scene: Scene,
  { stav = 1, changes = {}, xml, ...options }: Draft = {},
): Promise<Answer> {
  const text = await makeDocument(scene, stav, changes, xml);
  const file = { name: 'file', fileName: 'find.xml', bytes: Buffer.from(text) };
  const answer = await sendFile(scene, '/api/pas/import-xml', file, options);
  if (answer.status === 201) await mustBeNoProduction(scene, answer);
  return answer;
}

/** @param edit of the whole document, under the prefix `svc` */
export async function makeDocument(
  scene: Scene,
  stav: 1 | 2 | 3,
  changes: Lines = {},
  edit: (document: string) => string = (text) => text,
): Promise<string> {
  const { prefix, schemaVersion } = scene.options;
  const place = { base: await schemaBase(scene), version: schemaVersion };
  return inPrefix(edit(findDocument(place, await fetchTerms(scene), stav, changes)), prefix);
}

/** A find made by this run, of which nothing else is known. */
export async function madeFind(
  scene: Scene,
  stav: 1 | 2 | 3 = 1,
): Promise<{ readonly ident: string; readonly find: Element }> {
  return scene.given(`a find in state ${stav}`, async () =>
    foundIn(await importFind(scene, { stav }), 201),
  );
}

/** The find that a success answers with. @throws Broken */
export async function foundIn(
  answer: Answer,
  status: 200 | 201,
): Promise<{ readonly ident: string; readonly find: Element }> {
  must(answer.status === status, `${answer.status}: ${answer.text}`);
  const find = at(await readXml(answer.text), 'samostatny_nalez');
  must(find !== undefined, `no samostatny_nalez: ${shortened(answer.text)}`);
  return { ident: answer.headers.get('x-record-id') ?? '', find };
}

/** Headers of every success (A-ANSWER-1). @throws Broken */
export function mustName(scene: Scene, answer: Answer, ident: string): void {
  const recordId = answer.headers.get('x-record-id');
  must(answer.type === 'application/xml', `content type ${answer.type}`);
  must(ident !== '' && recordId === ident, `X-Record-ID ${recordId}, ident_cely ${ident}`);
  const location = answer.headers.get('location') ?? '';
  // A training instance may name a harvesting host of its own, which there is not.
  must(
    scene.options.isDouble
      ? location === `${oaiBase(scene)}/id/${ident}`
      : location.endsWith(`/id/${ident}`),
    `Location ${location}`,
  );
}

export async function setNumber(
  scene: Scene,
  ident: string,
  query: string,
  as?: Account,
): Promise<Answer> {
  return scene.line.ask({
    method: 'PATCH',
    url: `${scene.options.baseUrl}/api/pas/nalez/${ident}/evidencni-cislo${query}`,
    headers: await bearer(scene, as),
  });
}

export function sendPhotograph(
  scene: Scene,
  ident: string,
  options: SendOptions & { readonly bytes?: Buffer } = {},
): Promise<Answer> {
  const file = { name: 'file', fileName: 'photograph.png', bytes: options.bytes ?? PHOTOGRAPH };
  return sendFile(scene, `/api/pas/nalez/${ident}/upload-foto`, file, options);
}

/** Clocks of two hosts of one service. */
const CLOCK_MARGIN_MS = 60_000;

/**
 * Records of a training instance cannot be harvested, though it may have the identifiers of older
 * records that can. Looks for the first record of the run after the 1st, 2nd, 4th, … that it made,
 * since an index may be late.
 * @throws NotTraining, which ends the run
 */
async function mustBeNoProduction(scene: Scene, { headers }: Answer): Promise<void> {
  if (scene.options.isDouble) return;
  const ident = headers.get('x-record-id') ?? '';
  const sinceMs = Date.parse(headers.get('date') ?? '') - CLOCK_MARGIN_MS;
  const records = await scene.once('records made', async () => ({ ident, sinceMs, count: 0 }));
  records.count += 1;
  if (!Number.isInteger(Math.log2(records.count))) return;
  const identifier = encodeURIComponent(`${oaiBase(scene)}/id/${records.ident}`);
  const root = await oai(scene, `verb=GetRecord&metadataPrefix=oai_dc&identifier=${identifier}`);
  const header = at(root, 'GetRecord', 'record', 'header');
  if (header === undefined) return;
  // An unreadable time counts as new.
  if (!(Date.parse(textAt(header, 'datestamp') ?? '') < records.sinceMs))
    throw new NotTraining(
      `${records.ident}, which this run made, can be harvested: ${scene.options.baseUrl} is no training instance`,
    );
}

/** A write was taken, and its answer is valid by the schema. */
export async function mustBeValidAnswer(scene: Scene, answer: Answer): Promise<void> {
  await foundIn(answer, 201);
  const { prefix, schemaVersion } = scene.options;
  const schema = await fetchSchema(
    scene.line,
    `${await schemaBase(scene)}/${schemaVersion}/${prefix}.xsd`,
  );
  await mustBeValid(schema, new Map([['the answer', writeXml(await readXml(answer.text))]]));
}

import { parseHarvestedFind } from '../../src/find/harvested-find.ts';
import { makingOf } from '../../src/flows/reconcile/judge-import.ts';
import { descendantsOf } from '../../src/xml/element.ts';
import { parseXml } from '../../src/xml/parse.ts';
import type { RunningMock } from '../support/mock-process.ts';

export type ServerFind = {
  readonly identCely: string;
  readonly note: string;
  readonly number: string;
  /** The service's identifier of the account that made it. */
  readonly maker: string | undefined;
  /** SHA-512 of its photographs: the server keeps the bytes of a PNG as they came. */
  readonly digests: readonly (string | undefined)[];
};

/** All finds as an archivist sees them. */
export async function serverFinds({ oai_base }: RunningMock): Promise<ServerFind[]> {
  const found: ServerFind[] = [];
  let query = 'metadataPrefix=oai_svc&set=samostatny_nalez';
  for (;;) {
    const answer = await fetch(`${oai_base}/2.2/oai?verb=ListRecords&${query}`, {
      headers: { authorization: `Basic ${Buffer.from('archivist:archivist').toString('base64')}` },
    });
    const { root } = parseXml(Buffer.from(await answer.arrayBuffer()));
    const metadata = [...descendantsOf(root, 'metadata', root.namespace)];
    for (const { children } of metadata) {
      const find = children[0]?.children[0] === undefined ? undefined : parseHarvestedFind(children[0].children[0]);
      if (find === undefined) continue;
      const text = (value: unknown): string => (typeof value === 'string' ? value : '');
      found.push({
        identCely: find.identCely,
        note: text(find.elements.poznamka),
        number: text(find.elements.evidencni_cislo),
        maker: makingOf(find)?.user,
        digests: find.files.map(({ sha512Hex }) => sha512Hex),
      });
    }
    const token = [...descendantsOf(root, 'resumptionToken', root.namespace)][0]?.text.trim();
    if (token === undefined || token === '') return found;
    query = `resumptionToken=${encodeURIComponent(token)}`;
  }
}

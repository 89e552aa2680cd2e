import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectEnded, makeHome } from '../support/run-pas.ts';
import { oaiXml, recordXml } from '../support/scripted-oai.ts';
import { ODD_SET, page, send, startOddService } from './odd-service.ts';

test('a broken page names its record, and can be skipped record by record', async () => {
  await using service = await startOddService();
  const home = makeHome();
  await home.init(service, '--name', 'odd');
  const broken = page(['A-3', 'A-4', 'A-5'], { size: 5, next: '' }).replace(
    '<ident_cely>A-4',
    '<ident_cely>\u0001A-4',
  );
  service.odd((response, n) =>
    send(response, n === 0 ? page(['A-1', 'A-2'], { size: 5, next: 'at-2' }) : broken),
  );
  await expectEnded(
    home.pas('harvest', ODD_SET, '--out', 'out.jsonl'),
    14,
    /not allowed here.*A-4/s,
  );
  // Asked three times for the page, then for what changed since the harvest began.
  service.odd((response, n, request) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const ident = searchParams.get('identifier')?.split('/').at(-1);
    const nothing = oaiXml('<error code="noRecordsMatch"/>');
    if (ident === undefined) send(response, n > 2 ? nothing : broken);
    else if (ident === 'A-4') send(response, oaiXml('<GetRecord/>'));
    else send(response, oaiXml(`<GetRecord>${recordXml(ident)}</GetRecord>`));
  });
  await expectEnded(
    home.pas('harvest', ODD_SET, '--out', 'out.jsonl', '--skip-broken'),
    3,
    /Skipped .*A-4/,
  );
  const text = readFileSync(join(home.folder, 'out.jsonl'), 'utf8');
  const idents = [...text.matchAll(/"identifier":"[^"]*\/([^"/]+)"/g)].map(([, ident]) => ident);
  expect(idents.sort()).toEqual(['A-1', 'A-2', 'A-3', 'A-5']);
});

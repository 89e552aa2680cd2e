import { test } from 'vitest';
import { expectEnded, makeHome } from '../support/run-pas.ts';
import { ODD_SET, page, send, startOddService } from './odd-service.ts';

test('a broken page names its record', async () => {
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
});

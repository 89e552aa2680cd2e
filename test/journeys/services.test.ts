import { describe, expect, test } from 'vitest';
import { accountFlags, type Service, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { sendSeason, writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

const pointAt = (service: Service, name = 'mock', user = 'archaeologist') =>
  home.init(service, '--name', name, ...accountFlags(user), ...WITHOUT_PAUSES);

describe('a service', () => {
  test('can be written in several spellings', async () => {
    await sendSeason(home, 1);
    const { port } = new URL(mock.service.base_url);
    await pointAt({ ...mock.service, base_url: `HTTP://127.0.0.1:${port}///` }, 'other');
    expect(await home.json('list', '--profile', 'other')).toMatchObject([{ state: 'accepted' }]);
    await home.do('import', writeSeason(home, 1), '--profile', 'other');
    await home.do('push', '--profile', 'other');
    expect(
      (await mock.service.journal()).filter(({ path }) => path.endsWith('/import-xml')),
    ).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe } from 'vitest';
import { testWholeHarvests } from '../journeys/whole-harvest.ts';
import { type Home, signedIn } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

// The newest version is harvested by test/journeys.
describe.each([
  ['in strict mode', false],
  ['as deployed', true],
])('a service %s', (_, deployed) => {
  let mock: TestMock;
  let home: Home;
  beforeAll(async () => {
    mock = await startMock({ deployed, pageSize: 20 });
    home = await signedIn(mock.server);
    for (const ident of ['HES-000300', 'HES-000301'])
      await mock.control('POST', `/records/${ident}/delete`);
  });
  afterAll(() => mock.close());

  for (const version of ['2.0', '2.1']) testWholeHarvests(version, () => ({ mock, home }));
});

import { expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { type DelayModel, independentJitter, startDelayProxy, wanderingJitter } from '../support/delay-proxy.ts';
import { type Measured, measurePushes, warmUp } from '../support/measure-pushes.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { seededRandom } from '../support/random.ts';
import { expectDone, signedIn } from '../support/run-pas.ts';

const LINK = { baseMs: 60, spreadMs: 30 };
const FINDS = 400;

async function pushBehind(makeDelay: (random: () => number) => DelayModel): Promise<Measured> {
  await using service = await startMockProcess();
  await warmUp(service);
  const random = seededRandom(6).next;
  await using link = await startDelayProxy(service.base_url, () => makeDelay(random));
  const home = await signedIn({ ...service, base_url: link.url });
  await expectDone(home.pas('import', writeSeason(home, FINDS)));
  return await measurePushes(service, [home]);
}

// As above: a round in which the machine put the server or the link aside may be repeated.
test('behind a link whose delay wanders by 30 ms each way, few requests are throttled and the rate stays near the limit', {
  retry: 2,
  timeout: 240_000,
}, async () => {
  const measured = await pushBehind((random) => wanderingJitter(LINK, 3, random));
  expect(measured.accepted).toBe(FINDS);
  expect(measured.throttled / measured.requests).toBeLessThan(0.01);
  expect(measured.perSecond).toBeGreaterThan(0.85 * 10);
});

// No spacing reaches 85 % here: docs/decisions/0005-own-pace.md has the bound.
test('behind a link that draws every delay anew, the pace finds the gap that the service lets through', {
  timeout: 240_000,
}, async () => {
  const measured = await pushBehind((random) => independentJitter(LINK, random));
  expect(measured.accepted).toBe(FINDS);
  expect(measured.throttled / measured.requests).toBeLessThan(0.03);
  expect(measured.perSecond).toBeGreaterThan(0.45 * 10);
});

import { describe, expect, test } from 'vitest';
import { parsePosition, parsePositionLink } from '../../../src/finds/place/read-position.ts';

const getProblem = (text: string): string => {
  const reading = parsePosition(text);
  return 'problem' in reading ? String(reading.problem) : 'none';
};

describe('a map link', () => {
  test.each([
    'geo:50.0871,14.4208',
    'geo:50.0871,14.4208,235;u=12',
    'geo:50.0871,14.4208;crs=wgs84?z=17',
    'geo:0,0?q=50.0871,14.4208(hrob)',
    'https://mapy.cz/zakladni?source=coor&id=14.4208%2C50.0871&x=14.4300000&y=50.0900000&z=17',
    'https://mapy.com/cs/turisticka?x=14.43&y=50.09&z=17&source=coor&id=14.4208,50.0871',
    'mapy.cz/zakladni?q=50.0871,14.4208',
    'https://www.google.com/maps?q=50.0871,14.4208',
    'https://www.google.com/maps/search/?api=1&query=50.0871%2C14.4208',
    'https://www.google.com/maps/search/50.0871,+14.4208?entry=tts',
    'https://www.google.com/maps/place/Praha/@50.09,14.43,17z/data=!3m1!4b1!4m4!3m3!8m2!3d50.0871!4d14.4208',
    'https://www.openstreetmap.org/?mlat=50.0871&mlon=14.4208#map=17/50.09/14.43',
  ])('gives the place that it marks: %s', (text) => {
    expect(parsePosition(text)).toEqual({
      value: { system: '4326', point: { x: '14.4208', y: '50.0871' } },
    });
  });

  test.each([
    ['https://mapy.cz/zakladni?x=14.4208&y=50.0871&z=17', 'a single marked place'],
    ['https://www.google.com/maps/@50.0871,14.4208,17z', 'a single marked place'],
    ['https://example.org/', 'a single marked place'],
    ['https://mapy.cz/s/kobejafupe', 'a single marked place'],
    ['https://maps.app.goo.gl/AbCdEf', 'a single marked place'],
    ['geo:50.0871,14.4208;crs=nad27', 'a single marked place'],
    ['geo:0,0', '0 0 is what a device records'],
    ['https://[', 'a single marked place'],
  ])('without a marked place is explained: %s', (text, problem) => {
    expect(getProblem(text)).toContain(problem);
  });
});

describe('a plus code', () => {
  test.each([
    ['9F2P3CPC+R8', { lat: '50.0870625', lon: '14.4208125' }],
    ['8FVC9G8F+6X', { lat: '47.3655625', lon: '8.5249375' }],
    ['8fvc9g8f+6xq Zürich', { lat: '47.3655875', lon: '8.5249844' }],
  ])('means the centre of its area: %s', (text, value) => {
    expect(parsePositionLink(text)).toEqual({ value });
  });

  test('of thirteen digits is as precise as the code', () => {
    const reading = parsePositionLink('7FG49QCJ+2VXGJ');
    const { lat, lon } =
      reading !== undefined && 'value' in reading ? reading.value : { lat: '', lon: '' };
    expect(Number(lat)).toBeCloseTo(20.3701135, 6);
    expect(Number(lon)).toBeCloseTo(2.7822354, 6);
  });

  test.each([
    ['3CPC+R8 Praha', 'or a short one'],
    ['3CPC+R8', 'or a short one'],
    ['9F2P3CPC+', 'a large area'],
    ['9F2P0000+', 'a large area'],
    ['50.0871 +14.4208', 'none'],
  ])('that is incomplete is explained: %s', (text, problem) => {
    expect(getProblem(text)).toContain(problem);
  });
});

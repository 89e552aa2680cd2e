import { describe, expect, test } from 'vitest';
import { parsePosition } from '../../../src/finds/place/read-position.ts';

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
    ['geo:0,0', '0 0 is what a device records'],
    ['https://[', 'a single marked place'],
  ])('without a marked place is explained: %s', (text, problem) => {
    expect(getProblem(text)).toContain(problem);
  });
});

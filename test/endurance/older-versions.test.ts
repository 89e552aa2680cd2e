import { testWholeHarvests } from '../journeys/whole-harvest.ts';

// The newest version is harvested by test/journeys.
testWholeHarvests('2.0', '2.1');

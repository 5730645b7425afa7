// First, so that what it sets up holds for all tests, and is taken down after the last.
import '../engine/harness';
import { gather } from './gather';

// The tests of the harness cannot notice a change of a node.
gather('engine', /^harness/);

import { groupOf, hasFailed, isLater, type Status } from '../domain';
import { isNamedStatus, isSameStatus, isWantedStatus, namedStatuses, type Wanted } from './filters';
import { ANY } from './form';

const COMMON_LAG_MS = 3_000;
export const LONGEST_LAG_MS = 120_000;

interface Comparison {
	read: Status;
	claimed: Status;
	/** Between the webhook (its first copy, if it was repeated) and the start of the read. */
	claimedForMs: number;
	/** Since the first of the reads in a row that showed this status. */
	shownForMs: number;
	/** Whether the status that was read has started the workflow. */
	isHandedOver: boolean;
}

/** Whether the read may be older than the webhook. A read of an earlier status than a known, wanted claim always may be. */
export function mayBeOutdated(wanted: Wanted, comparison: Comparison): boolean {
	const { read, claimed, claimedForMs, shownForMs, isHandedOver } = comparison;
	if (claimed != null && isSameStatus(read, claimed)) return false;
	const isReadWanted = isWantedStatus(wanted, read);
	const isNew = isReadWanted && !isHandedOver;
	// Another webhook may have brought this status instead of its own. Then this webhook has to bring that one.
	const mayLag = claimedForMs < LONGEST_LAG_MS || (!isNew && shownForMs < LONGEST_LAG_MS);
	const isSoon = claimedForMs < COMMON_LAG_MS;
	// A wanted status may be the old one soon after the webhook, because it may have started the workflow before a restart
	// or on another worker; later, only if it started the workflow here.
	const mayBeOldStatus = isSoon || !isReadWanted || (isHandedOver && mayLag);
	// Reads may not show yet that a new payment follows a refused one.
	const isPast = (status: Status) => isLater(read, status) && !(isSoon && hasFailed(read));
	const isClaimKnown = groupOf(claimed) !== undefined || isNamedStatus(wanted, claimed);
	if (!isClaimKnown) {
		const isEnded = (named: string) => isSameStatus(read, named) || isPast(named);
		const mayFollow = wanted.triggerOn.includes(ANY) || !namedStatuses(wanted).every(isEnded);
		return mayLag && mayBeOldStatus && mayFollow;
	}
	// A read status without a group counts as waiting. After the longest lag, a wanted one may be another word for the claim.
	const isReadEarlier = groupOf(read)
		? isLater(claimed, read)
		: isLater(claimed, 'waiting_payment') && (mayLag || !isReadWanted);
	if (!isWantedStatus(wanted, claimed)) return isReadEarlier && isNew && mayLag;
	return isReadEarlier || (mayBeOldStatus && !isPast(claimed));
}

/** Whether the claimed status may follow the one that was read. */
export function isAhead(claimed: Status, read: Status): boolean {
	return claimed != null && !isSameStatus(claimed, read) && !isLater(read, claimed);
}

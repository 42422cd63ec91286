package main

import (
	"context"
	"fmt"
	"path/filepath"

	"smsdesk/internal/lists"
	"smsdesk/storage"
)

// What doctor looks at in the folder itself.

func (x *examination) spoolFolder() string {
	if x.Spool != "" {
		return x.Spool
	}
	return filepath.Join(x.storage.Data, "spool")
}

func (x *examination) inbox(ctx context.Context) ([]finding, error) {
	cursor, err := x.db.InboxCursor(ctx)
	if err != nil {
		return nil, err
	}
	state, err := storage.LookIntoInbox(ctx, x.storage.Data, cursor)
	switch {
	case err != nil:
		return []finding{found(fault,
			"the inbox inbox.db cannot be read: %s. Delivery reports go to the spool in the meantime",
			err)}, nil
	case state.Missing && cursor > 0:
		return []finding{found(fault,
			"the inbox inbox.db is missing, although reports have come in through it. \"smsdesk serve\" makes a new one and "+
				"takes what was not yet applied from the log of delivery reports")}, nil
	case state.Missing:
		return []finding{found(fine, "there is no inbox yet; \"smsdesk serve\" makes it")}, nil
	case state.Waiting > 0:
		return []finding{found(fine, "the inbox is whole; %d delivery reports wait in it to be applied", state.Waiting)}, nil
	}
	return []finding{found(fine, "the inbox is whole")}, nil
}

func (x *examination) spool(context.Context) ([]finding, error) {
	folder := x.spoolFolder()
	reports, err := storage.Spooled(folder)
	if err != nil {
		return []finding{found(fault, "the spool %s cannot be read: %s", folder, err)}, nil
	}
	if reports > 0 {
		return []finding{found(notice,
			"%d delivery reports wait in the spool %s because the inbox could not be written. \"smsdesk serve\" brings them "+
				"to the inbox as soon as it can", reports, folder)}, nil
	}
	return []finding{found(fine, "nothing waits in the spool")}, nil
}

func (x *examination) modes(context.Context) (list []finding, err error) {
	wide, err := openToOthers(x.private(x.Spool)...)
	for i, path := range wide {
		if i == mostNamed {
			list = append(list, found(fault, "and %d more files and folders that others may read or write", len(wide)-i))
			break
		}
		list = append(list, found(fault, "%s is readable or writable by others (mode %o). Run: chmod go= %s", path.name,
			path.mode, path.name))
	}
	if len(list) == 0 && err == nil {
		list = append(list, found(fine, "no one else can read the data folder"))
	}
	return list, err
}

func (x *examination) disk(context.Context) (list []finding, err error) {
	folders := []string{x.storage.Data}
	if x.Spool != "" {
		folders = append(folders, x.Spool)
	}
	for _, folder := range folders {
		free, err := storage.FreeSpace(folder)
		if err != nil {
			return list, err
		}
		g := fine
		text := fmt.Sprintf("the disk of %s has room: %d MiB", folder, free>>20)
		if free < lists.MinFreeSpace {
			g = fault
			text = fmt.Sprintf(
				"the disk of %s has only %d MiB left. Make room: below %d MiB no list is taken in, and on a full disk nothing "+
					"is sent", folder, free>>20, lists.MinFreeSpace>>20)
		}
		list = append(list, finding{g, text})
	}
	return list, nil
}

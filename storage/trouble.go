package storage

import (
	"errors"
	"syscall"

	"smsdesk/internal/health"
)

// troubled marks an error whose cause is trouble with storage as sms.Troubled.
func troubled(err error) error {
	if err == nil || health.TroubleOf(err) != "" {
		return err
	}
	if t := TroubleOf(err); t != "" {
		return health.Troubled{Trouble: t, Err: err}
	}
	return err
}

// TroubleOf is the trouble with storage behind an error of this package, or of
// the file system; "" where the cause is another one.
func TroubleOf(err error) health.Trouble {
	if t := health.TroubleOf(err); t != "" {
		return t
	}
	if t := engineTrouble(err); t != "" {
		return t
	}
	errno, _ := errors.AsType[syscall.Errno](err)
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
		return health.TroubleFull
	case syscall.EROFS, syscall.EACCES, syscall.EPERM:
		return health.TroubleReadOnly
	case syscall.EIO, syscall.ENXIO, syscall.ENODEV, syscall.ESTALE:
		return health.TroubleFailing
	}
	return ""
}

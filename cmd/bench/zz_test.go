package main
import ("testing";"context";"syscall";"time";"os";"os/exec";"strings")
func cpu(who int) time.Duration { var r syscall.Rusage; syscall.Getrusage(who,&r); return time.Duration(r.Utime.Nano()+r.Stime.Nano()) }
func TestZZ(t *testing.T){
 e:=env{dir:t.TempDir()}; path:=e.path("import.csv"); writeFile(path, ordinaryList(importRows))
 c,err:=newChecking(context.Background(),e,path); if err!=nil{t.Fatal(err)}
 for range 3 {
 a:=cpu(0); s:=time.Now()
 if err:=c.check(context.Background());err!=nil{t.Fatal(err)}
 t.Log("ours cpu",cpu(0)-a,"wall",time.Since(s))
 a=cpu(syscall.RUSAGE_CHILDREN); s=time.Now()
 if err:=shellImport(context.Background(),e,path);err!=nil{t.Fatal(err)}
 t.Log("cli cpu",cpu(syscall.RUSAGE_CHILDREN)-a,"wall",time.Since(s))
 }
 c.close()
}
var _ = os.Args; var _ = exec.Command; var _ = strings.Cut
